import Glibc
import RunLoopKit
import RunLoopKitTesting
import Testing

/// Delivering an event allocates nothing: no box, no closure context, no array. Making an item allocates its object, and the
/// caller allocates the captures of the closure.
@Suite(.enabled(if: Canaries.areReliable)) struct AllocationTests {
    static let deliveries = 1_000
    /// One of these has to show nothing: now and then the runtime allocates for itself, and does so more often in an attempt that takes longer.
    static let attempts = 20

    @Test("A tick of a timer allocates nothing")
    func timerTick() async throws {
        let allocated = try await withRunLoopThread {
            let ticks = Count()
            let timer = RunLoop.Timer(at: .now, every: .nanoseconds(1)) { _ in ticks.increment() }
            try RunLoop.current.add(timer, forMode: .default)
            let allocated = try deliver()
            #expect(ticks.value >= Self.deliveries)
            timer.invalidate()
            return allocated
        }
        #expect(allocated == [])
    }

    @Test("A tick of a timer that its creator released allocates nothing")
    func releasedTimerTick() async throws {
        let allocated = try await withRunLoopThread {
            let ticks = Count()
            try RunLoop.current.add(
                RunLoop.Timer(at: .now, every: .nanoseconds(1)) { timer in
                    ticks.increment()
                    if !timer.isValid { ticks.increment() }
                }, forMode: .default)
            let allocated = try deliver()
            #expect(ticks.value >= Self.deliveries)
            return allocated
        }
        #expect(allocated == [])
    }

    @Test("A source that performs and an observer that is notified allocate nothing")
    func sourceAndObserver() async throws {
        let allocated = try await withRunLoopThread {
            let performed = Count()
            let notified = Count()
            let source = RunLoop.Source { performed.increment() }
            try RunLoop.current.add(source, forMode: .default)
            try RunLoop.current.add(RunLoop.Observer(.all) { _, _ in notified.increment() }, forMode: .default)
            let allocated = try deliver { source.signal() }
            #expect(performed.value >= Self.deliveries)
            #expect(notified.value == 4 * performed.value)
            return allocated
        }
        #expect(allocated == [])
    }

    @Test("A ready descriptor allocates nothing")
    func readyDescriptor() async throws {
        let allocated = try await withRunLoopThread {
            try withPipe { reader, writer in
                let called = Count()
                let source = try RunLoop.Source(fileDescriptor: reader) { _ in called.increment() }
                try RunLoop.current.add(source, forMode: .default)
                writeByte(writer)
                let allocated = try deliver()
                #expect(called.value >= Self.deliveries)
                source.invalidate()
                return allocated
            }
        }
        #expect(allocated == [])
    }

    @Test("Performing and calling a closure allocates nothing")
    func performedClosure() async throws {
        let allocated = try await withRunLoopThread {
            let loop = RunLoop.current
            let calls = Count()
            let body = { @Sendable in calls.increment() }
            try loop.add(RunLoop.Source {}, forMode: .default)
            let allocated = try deliver { loop.perform(body) }
            #expect(calls.value > 0 && calls.value % (100 + Self.deliveries) == 0)
            return allocated
        }
        #expect(allocated == [])
    }

    @Test("Performing a closure on a thread allocates nothing on the calling thread")
    func closureForThread() async throws {
        let count = try await withRunLoopThread {
            let calls = Count()
            let body = { @Sendable in calls.increment() }
            let thread = try RunLoop.Thread()
            return try allocations { thread.perform(body) }
        }
        #expect(count == 0)
    }

    @Test("An observer that its creator released allocates nothing")
    func releasedObserver() async throws {
        let allocated = try await withRunLoopThread {
            let notified = Count()
            let source = RunLoop.Source {}
            try RunLoop.current.add(source, forMode: .default)
            try RunLoop.current.add(
                RunLoop.Observer(.beforeTimers) { observer, _ in
                    if observer.isValid { notified.increment() }
                }, forMode: .default)
            let allocated = try deliver { source.signal() }
            #expect(notified.value > 0 && notified.value % (100 + Self.deliveries) == 0)
            return allocated
        }
        #expect(allocated == [])
    }

    @Test("A timer and an observer are one object each, and a source is two, besides the captures of their closures")
    func creation() async throws {
        let (timer, tick, observer, source, zeroed) = try await withRunLoopThread {
            let fire: @Sendable (RunLoop.Timer) -> Void = { _ in }
            let observe: @Sendable (RunLoop.Observer, RunLoop.Observer.Activities) -> Void = { _, _ in }
            let perform: @Sendable () -> Void = {}
            return (
                try allocations { RunLoop.Timer(after: .seconds(3600), fire) },
                try allocations { RunLoop.Timer(every: .seconds(3600), tolerance: .seconds(1), fire) },
                try allocations { RunLoop.Observer(.entry, observe) },
                try allocations { RunLoop.Source(perform: perform) },
                try countedZeroedBlocks()
            )
        }
        #expect(timer == 1)
        #expect(tick == 1)
        // The core's own block of each of these is zeroed memory; a timer's is one of a slab.
        #expect(observer == 1 + zeroed)
        #expect(source == 2 + zeroed)
    }

    @Test("A closure that captures one object allocates nothing")
    func oneCapture() async throws {
        let count = try await withRunLoopThread {
            let object = Count()
            return try allocations { RunLoop.Timer(after: .seconds(3600)) { _ in object.increment() } }
        }
        #expect(count == 1)
    }

    @Test("A timeout in one mode whose closure captures one object allocates nothing: made, moved, cancelled, called")
    func timeout() async throws {
        let allocated = try await withRunLoopThread {
            let object = Count()
            let allocated = try deliver {
                let cancelled = RunLoop.Timeout(on: .current, after: .seconds(3600), inMode: .default) {
                    object.increment()
                }
                cancelled.reschedule(after: .seconds(1800))
                let called = RunLoop.Timeout(on: .current, after: .zero, inMode: .default) { object.increment() }
                RunLoop.current.run(mode: .default, for: .zero)
                if called.isValid { object.increment() }
            }
            #expect(object.value > 0 && object.value % (100 + Self.deliveries) == 0)
            return allocated
        }
        #expect(allocated == [])
    }

    @Test("Moving a timer allocates nothing")
    func moving() async throws {
        let counts = try await withRunLoopThread {
            let timer = RunLoop.Timer(after: .seconds(3600)) { _ in }
            try RunLoop.current.add(timer, forMode: .default)
            return try [
                allocations { timer.reschedule(after: .seconds(1800)) },
                allocations { timer.nextFireDate = .now + .seconds(1800) },
            ]
        }
        #expect(counts == [0, 0])
    }

    @Test("Adding a timer to a loop, and invalidating it, allocates nothing")
    func membership() async throws {
        let count = try await withRunLoopThread {
            let loop = RunLoop.current
            let timers = (0..<10).map { _ in RunLoop.Timer(after: .seconds(3600)) { _ in } }
            var next = 0
            return try allocations {
                try! loop.add(timers[next], forMode: .default)
                timers[next].invalidate()
                next += 1
            }
        }
        #expect(count == 0)
    }

    @Test("A job of an actor, and a call between two executors of a loop, allocate nothing")
    func jobs() async throws {
        let allocated = try await withRunningLoop { thread in
            let here = Caller(thread.loop.executor)
            let there = Caller(thread.loop.makeExecutor(inModes: [.common]))
            var allocated = try await here.call(there)
            for _ in 1..<Self.attempts where !allocated.isEmpty { allocated = try await here.call(there) }
            // Each call is two jobs: one in each direction.
            #expect(await there.calls % (100 + Self.deliveries) == 0)
            return allocated
        }
        #expect(allocated == [])
    }

    @Test("An allocation is detected, freed or not")
    func canariesWork() async throws {
        let (nothing, freed, kept) = try await withRunLoopThread {
            let canaries = try #require(Canaries())
            var nothing = [Int.max]
            for _ in 0..<Self.attempts where !nothing.isEmpty {
                canaries.plant()
                nothing = canaries.disturbed()
            }
            canaries.plant()
            _ = RunLoop.Timer(every: .seconds(1)) { _ in }
            let freed = canaries.disturbed().count
            let kept = try allocations { (Empty(), Empty(), Empty()) }
            return (nothing, freed, kept)
        }
        #expect(nothing == [])
        #expect(freed > 0)
        #expect(kept == 3)
    }

    @Test("What another thread has freed does not look like an allocation")
    func freedByAnotherThread() async throws {
        let allocated = try await withRunLoopThread {
            let canaries = try #require(Canaries())
            var allocated = [Int.max]
            for _ in 0..<Self.attempts where !allocated.isEmpty {
                // More than the lists of a thread hold, so that the allocator refills them from elsewhere.
                let blocks = (0..<10_000).map { _ in UInt(bitPattern: malloc(40)) }
                TestThread { for block in blocks { free(UnsafeMutableRawPointer(bitPattern: block)) } }.join()
                canaries.plant()
                allocated = canaries.disturbed()
            }
            return allocated
        }
        #expect(allocated == [])
    }
}

/// Runs the loop until all caches are filled, and then `deliveries` more iterations. The sizes of what those allocated. An allocation for
/// each delivery shows every time.
private func deliver(_ prepare: () -> Void = {}) throws -> [Int] {
    let loop = RunLoop.current
    var allocated = [Int.max]
    for _ in 0..<AllocationTests.attempts where !allocated.isEmpty {
        let canaries = try #require(Canaries())
        for iteration in 0..<(100 + AllocationTests.deliveries) {
            if iteration == 100 { canaries.plant() }
            prepare()
            loop.run(mode: .default, for: .zero)
        }
        allocated = canaries.disturbed()
    }
    return allocated
}

/// How many allocations `body` makes, counted after a first call. Its results are kept until they are counted. The least of
/// several counts is returned, because a call may happen to be the one that fills the core's store of blocks.
private func allocations<Result>(_ body: () -> Result) throws -> Int {
    let canaries = try #require(Canaries())
    var least = Int.max
    for call in 0..<5 {
        canaries.plant()
        let count = withExtendedLifetime(body()) { canaries.disturbed().count }
        if call > 0 { least = min(least, count) }
    }
    return least
}

/// 1 where a block of zeroed memory is counted, otherwise 0.
private func countedZeroedBlocks() throws -> Int {
    var blocks: [UnsafeMutableRawPointer?] = []
    blocks.reserveCapacity(16)
    defer { for block in blocks { free(block) } }
    return try allocations { blocks.append(calloc(1, 200)) }
}

/// An actor whose calls of another actor are jobs on the same thread.
private actor Caller {
    private let executor: any SerialExecutor
    private(set) var calls = 0

    init(_ executor: any SerialExecutor) {
        self.executor = executor
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func call(_ other: Caller) async throws -> [Int] {
        let canaries = try #require(Canaries())
        for call in 0..<(100 + AllocationTests.deliveries) {
            if call == 100 { canaries.plant() }
            await other.answer()
        }
        return canaries.disturbed()
    }

    private func answer() { calls += 1 }
}

private final class Empty {}

/// Counts the allocations of a thread, whether they are freed again or not.
///
/// The allocator keeps a list of free blocks of each size for each thread, last in, first out. Into each of them go some blocks
/// that are filled with a pattern. An allocation of that size takes one of these. If it is not there afterwards, or its pattern
/// was overwritten, there was an allocation. Other threads have no effect on that. A block that is freed and allocated again
/// counts once. Zeroed memory, which the core requests, comes from those lists from glibc 2.41 on; before that only the overlay is counted.
private final class Canaries {
    /// `false` where the allocator works differently, as under a sanitizer.
    static var areReliable: Bool { Canaries() != nil }

    private static let sizes = stride(from: 24, through: 504, by: 16)
    private static let perSize = 4
    /// As many as a list of the allocator holds. In between, the thread may free items that others released: debug builds of
    /// the core keep them for a while. Such blocks lie above the canaries.
    private static let perList = 7
    private static let pattern: UInt8 = 0xA5
    /// The allocator has its own data at the beginning of a free block.
    private static let ownData = 16

    private typealias Block = UnsafeMutableRawPointer?
    private let planted = UnsafeMutablePointer<Block>.allocate(capacity: 64 * perSize)
    private let found = UnsafeMutablePointer<Block>.allocate(capacity: perList)
    private var drained: [Block] = []

    /// `nil` if they do not work.
    init?() {
        drained.reserveCapacity(16384)
        // Empties the lists, so that there is space for the canaries.
        for size in Self.sizes { for _ in 0..<16 { drained.append(malloc(size)) } }
        // The first times, the runtime itself may allocate the metadata of the types used here, and what other threads have freed
        // may still be on its way into the lists.
        for _ in 0..<50 {
            plant()
            if disturbed().isEmpty { return }
        }
        return nil
    }

    deinit {
        for block in drained { free(block) }
        planted.deallocate()
        found.deallocate()
    }

    func plant() {
        for (index, size) in Self.sizes.enumerated() {
            let blocks = planted + index * Self.perSize
            // A full list takes no block, so this is repeated until all blocks come back at once. A list that ran out has been filled up
            // with what other threads freed: then as many blocks again leave space for the canaries.
            for _ in 0..<100 {
                for place in 0..<Self.perSize { blocks[place] = malloc(size) }
                giveBack(blocks)
                var areBack = true
                for place in 0..<Self.perSize {
                    let block = malloc(size)
                    if block != blocks[place] { areBack = false }
                    blocks[place] = block
                }
                if areBack { break }
                for place in 0..<Self.perSize {
                    drained.append(blocks[place])
                    drained.append(malloc(size))
                    blocks[place] = nil
                }
            }
            for place in 0..<Self.perSize {
                if let block = blocks[place] { memset(block, CInt(Self.pattern), size) }
            }
            giveBack(blocks)
        }
    }

    /// The sizes of those that were allocated.
    func disturbed() -> [Int] {
        // More than any size of a canary, so that it takes the place of none.
        var allocated: [Int] = []
        allocated.reserveCapacity(Self.perSize * Self.sizes.underestimatedCount)
        for (index, size) in Self.sizes.enumerated() {
            for place in 0..<Self.perList {
                found[place] = malloc(size)
                drained.append(found[place])
            }
            for place in 0..<Self.perSize where !isIntact((planted + index * Self.perSize)[place], size) {
                allocated.append(size)
            }
        }
        return allocated
    }

    /// The first is the next to be allocated.
    private func giveBack(_ blocks: UnsafeMutablePointer<Block>) {
        for place in 1...Self.perSize { free(blocks[Self.perSize - place]) }
    }

    private func isIntact(_ planted: Block, _ size: Int) -> Bool {
        guard let block = planted else { return false }
        var isThere = false
        for place in 0..<Self.perList where found[place] == block { isThere = true }
        if !isThere { return false }
        for offset in Self.ownData..<size where block.load(fromByteOffset: offset, as: UInt8.self) != Self.pattern {
            return false
        }
        return true
    }
}
