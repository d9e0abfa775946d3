import AllocationCount
import Glibc
import RunLoopKit
import RunLoopKitLinux

/// A job needs no memory but the runtime's: hops and yields allocate nothing, and a sleep's timer is one of a slab.
@MainActor func memory() async throws {
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
    let ofLoop = try await allocations(1000) { try await thread.loop.performAndWait {} }
    check(per(1000, ofLoop) <= 5, "a call on another loop allocates 5 blocks, and not \(ofLoop) in 1,000 calls")
    let ofThread = await allocations(1000) { await thread.performAndWait {} }
    check(per(1000, ofThread) <= 5, "a call on another thread allocates 5 blocks, and not \(ofThread) in 1,000 calls")
}

@MainActor private func requests() async throws {
    let thread = try RunLoop.Thread()
    let port = try RunLoop.Port<Int, Int>(on: thread.loop) { message in
        let number = message.request
        message.reply(number)
    }
    let ofPort = try await allocations(1000) { _ = try await port.request(1) }
    check(per(1000, ofPort) <= 3, "a request of a port allocates 3 blocks, and not \(ofPort) in 1,000 requests")

    var ends: [CInt] = [0, 0]
    check(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0, "there is a pair of sockets")
    let bytes: [UInt8] = [1, 2, 3]
    let far = try RunLoop.Channel(adopting: ends[1], on: thread.loop) { _, message in try? message.reply(message.bytes)
    }
    let near = try RunLoop.Channel(adopting: ends[0], on: .main)
    let ofChannel = try await allocations(1000) { _ = try await near.request(bytes) }
    check(
        per(1000, ofChannel) <= 8,
        "a request of a channel allocates 8 blocks at its two ends together, and not \(ofChannel) in 1,000 requests")
    near.invalidate()
    far.invalidate()
}

/// Blocks for each repetition, rounded up, but for a tenth of a block: now and then the runtime allocates for itself.
private func per(_ count: Int, _ blocks: Int) -> Int { (blocks + count - 1 - count / 10) / count }

/// Of `count` repetitions, after those that fill what is kept.
@MainActor private func allocations<Failure>(
    _ count: Int, _ body: () async throws(Failure) -> Void
) async throws(Failure) -> Int {
    for _ in 0..<1000 { try await body() }
    let before = allocation_count()
    for _ in 0..<count { try await body() }
    return allocation_count() - before
}
