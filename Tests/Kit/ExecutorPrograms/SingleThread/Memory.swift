import AllocationCount
import Glibc
import RunLoopKit
import RunLoopKitLinux

/// A job needs no memory but the runtime's: hops and yields allocate nothing, and a sleep's timer is one of a slab.
@MainActor func memory() async throws {
    // On a busy machine a job may last long enough for a diagnostic, which allocates.
    RunLoop.writesDiagnostics = false
    let counter = Counter()
    let hops = await allocations(100_000) { await counter.add() }
    check(hops < 100, "100,000 hops allocate nothing, and not \(hops) blocks")
    let yields = await allocations(100_000) { await Task.yield() }
    check(yields < 100, "100,000 yields allocate nothing, and not \(yields) blocks")
    try await calls()
    try await requests()
}

private actor Counter {
    var count = 0
    func add() { count += 1 }
}

/// Counted on all threads together.
@MainActor private func calls() async throws {
    let thread = try RunLoop.Thread()
    try await expect(2, of: "a call on another loop") { try await thread.loop.performAndWait {} }
    try await expect(2, of: "a call on another thread") { await thread.performAndWait {} }
}

@MainActor private func requests() async throws {
    let thread = try RunLoop.Thread()
    let port = try RunLoop.Port<Int, Int>(on: thread.loop) { message in
        let number = message.request
        message.reply(number)
    }
    try await expect(2, of: "a request of a port") { _ = try await port.request(1) }

    var ends: [CInt] = [0, 0]
    check(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0, "there is a pair of sockets")
    let bytes: [UInt8] = [1, 2, 3]
    let far = try RunLoop.Channel(adopting: ends[1], on: thread.loop) { _, message in try? message.reply(message.bytes)
    }
    let near = try RunLoop.Channel(adopting: ends[0], on: .main)
    try await expect(6, of: "a request of a channel, both ends together,") { _ = try await near.request(bytes) }
    near.invalidate()
    far.invalidate()
}

/// So many blocks for each of 1,000 calls, but for a tenth of a block. On a busy machine the runtime allocates for itself, more often than not; so it is
/// counted again.
@MainActor private func expect(_ blocks: Int, of what: String, _ body: () async throws -> Void) async throws {
    var counted = 0
    for _ in 0..<20 {
        counted = try await allocations(1000, body)
        if counted <= blocks * 1000 + 100 { return }
    }
    check(false, "\(what) allocates \(blocks) blocks, and not \(counted) in 1,000 calls")
}

/// Of `count` repetitions, after those that fill what is kept.
@MainActor private func allocations<Failure>(
    _ count: Int, _ body: () async throws(Failure) -> Void
) async throws(Failure) -> Int {
    for _ in 0..<1000 { try await body() }
    let before = allocation_count()
    for _ in 0..<count { try await body() }
    return allocation_count() - before
}
