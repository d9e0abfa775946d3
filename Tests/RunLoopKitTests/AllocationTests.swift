import Glibc
import RunLoopKit
import RunLoopKitTesting
import Testing

/// Delivering an event allocates nothing: no box, no closure context, no array.
@Suite(.enabled(if: Canaries.areReliable)) struct AllocationTests {
    static let deliveries = 10_000

    @Test("A tick of a timer allocates nothing")
    func timerTick() async throws {
        let usesMemory = try await withRunLoopThread {
            let ticks = Count()
            let timer = RunLoop.Timer(at: .now, every: .nanoseconds(1)) { _ in ticks.increment() }
            RunLoop.current.add(timer, forMode: .default)
            let usesMemory = try deliver()
            #expect(ticks.value >= Self.deliveries)
            timer.invalidate()
            return usesMemory
        }
        #expect(!usesMemory)
    }

    @Test("A tick of a timer that its creator dropped allocates nothing")
    func droppedTimerTick() async throws {
        let usesMemory = try await withRunLoopThread {
            let ticks = Count()
            RunLoop.current.add(
                RunLoop.Timer(at: .now, every: .nanoseconds(1)) { timer in
                    ticks.increment()
                    if !timer.isValid { ticks.increment() }
                }, forMode: .default)
            let usesMemory = try deliver()
            #expect(ticks.value >= Self.deliveries)
            return usesMemory
        }
        #expect(!usesMemory)
    }

    @Test("A source that performs and an observer that is told allocate nothing")
    func sourceAndObserver() async throws {
        let usesMemory = try await withRunLoopThread {
            let performed = Count()
            let told = Count()
            let source = RunLoop.Source { performed.increment() }
            try RunLoop.current.add(source, forMode: .default)
            RunLoop.current.add(RunLoop.Observer(.all) { _, _ in told.increment() }, forMode: .default)
            let usesMemory = try deliver { source.signal() }
            #expect(performed.value >= Self.deliveries)
            #expect(told.value == 4 * performed.value)
            return usesMemory
        }
        #expect(!usesMemory)
    }

    @Test("A ready descriptor allocates nothing")
    func readyDescriptor() async throws {
        let usesMemory = try await withRunLoopThread {
            try withPipe { reader, writer in
                let called = Count()
                let source = try RunLoop.Source(fileDescriptor: reader) { _ in called.increment() }
                try RunLoop.current.add(source, forMode: .default)
                writeByte(writer)
                let usesMemory = try deliver()
                #expect(called.value >= Self.deliveries)
                source.invalidate()
                return usesMemory
            }
        }
        #expect(!usesMemory)
    }

    @Test("A job of an actor, and a call between two executors of a loop, allocate nothing")
    func jobs() async throws {
        let usesMemory = try await withRunningLoop { thread in
            let here = Caller(thread.loop.executor)
            let there = Caller(thread.loop.makeExecutor(inModes: [.common]))
            let usesMemory = try await here.call(there)
            // Each call is two jobs: there and back.
            #expect(await there.calls == 100 + Self.deliveries)
            return usesMemory
        }
        #expect(!usesMemory)
    }

    @Test("An allocation would be noticed, freed or not")
    func canariesWork() async throws {
        let (nothing, freed, kept) = try await withRunLoopThread {
            let canaries = try #require(Canaries())
            canaries.plant()
            let nothing = canaries.areDisturbed()
            canaries.plant()
            _ = RunLoop.Timer(every: .seconds(1)) { _ in }
            let freed = canaries.areDisturbed()
            canaries.plant()
            RunLoop.current.perform {}
            let kept = canaries.areDisturbed()
            return (nothing, freed, kept)
        }
        #expect(!nothing)
        #expect(freed)
        #expect(kept)
    }
}

/// Runs the loop until all is warm, and then `deliveries` iterations more. Did those allocate memory?
private func deliver(_ prepare: () -> Void = {}) throws -> Bool {
    let loop = RunLoop.current
    let canaries = try #require(Canaries())
    for iteration in 0..<(100 + AllocationTests.deliveries) {
        if iteration == 100 { canaries.plant() }
        prepare()
        loop.run(mode: .default, for: .zero)
    }
    return canaries.areDisturbed()
}

/// An actor whose calls of another one are jobs of the same thread.
private actor Caller {
    private let executor: RunLoop.ActorExecutor
    private(set) var calls = 0

    init(_ executor: RunLoop.ActorExecutor) {
        self.executor = executor
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func call(_ other: Caller) async throws -> Bool {
        let canaries = try #require(Canaries())
        for call in 0..<(100 + AllocationTests.deliveries) {
            if call == 100 { canaries.plant() }
            await other.answer()
        }
        return canaries.areDisturbed()
    }

    private func answer() { calls += 1 }
}

/// Tells whether a thread has allocated anything meanwhile, be it freed again or not.
///
/// The allocator keeps a list of free blocks of each size for each thread, last in, first out. Into each of them goes one block
/// that is filled with a pattern. Whoever allocates a block of that size gets this one: if it is not there afterwards, or
/// its pattern was written over, somebody did. No other thread can disturb that.
private final class Canaries {
    /// Not where the allocator does something else, as under a sanitizer.
    static var areReliable: Bool { Canaries() != nil }

    private static let sizes = stride(from: 24, through: 504, by: 16)
    private static let pattern: UInt8 = 0xA5
    /// At the beginning of a free block the allocator keeps its own data.
    private static let ownData = 16

    private var blocks = [UnsafeMutableRawPointer?](repeating: nil, count: 64)
    private var drained: [UnsafeMutableRawPointer?] = []

    /// `nil` if they do not work.
    init?() {
        drained.reserveCapacity(4096)
        // Takes what is in the lists now, so that there is room for the canaries.
        for size in Self.sizes { for _ in 0..<16 { drained.append(malloc(size)) } }
        // The first time, the runtime itself may allocate what describes the types used here.
        for _ in 0..<2 {
            plant()
            _ = areDisturbed()
        }
        plant()
        if areDisturbed() { return nil }
    }

    deinit {
        for block in drained { free(block) }
    }

    func plant() {
        for (index, size) in Self.sizes.enumerated() {
            // A full list takes no block; so try until one comes back at once.
            var block = malloc(size)
            for _ in 0..<100 {
                free(block)
                let again = malloc(size)
                if again == block { break }
                drained.append(again)
                block = malloc(size)
            }
            guard let block else { continue }
            memset(block, CInt(Self.pattern), size)
            blocks[index] = block
            free(block)
        }
    }

    func areDisturbed() -> Bool {
        var disturbed = false
        for (index, size) in Self.sizes.enumerated() {
            guard let block = malloc(size) else { continue }
            defer { drained.append(block) }
            if block != blocks[index] { disturbed = true }
            for offset in Self.ownData..<size where block.load(fromByteOffset: offset, as: UInt8.self) != Self.pattern {
                disturbed = true
            }
        }
        return disturbed
    }
}
