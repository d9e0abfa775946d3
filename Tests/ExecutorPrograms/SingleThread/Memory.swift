import AllocationCount
import RunLoopKit

/// A job needs no memory but the runtime's: hops and yields allocate nothing, and a sleep's timer is one of a slab.
@MainActor func memory() async throws {
    let counter = Counter()
    let hops = await allocations { await counter.add() }
    check(hops < 100, "100,000 hops allocate nothing, and not \(hops) blocks")
    let yields = await allocations { await Task.yield() }
    check(yields < 100, "100,000 yields allocate nothing, and not \(yields) blocks")
}

private actor Counter {
    var count = 0
    func add() { count += 1 }
}

/// Of 100,000 repetitions, after those that fill what is kept.
@MainActor private func allocations(_ body: () async -> Void) async -> Int {
    for _ in 0..<1000 { await body() }
    let before = allocation_count()
    for _ in 0..<100_000 { await body() }
    return allocation_count() - before
}
