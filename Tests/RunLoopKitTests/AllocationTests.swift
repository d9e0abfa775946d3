import Glibc
import RunLoopKit
import Testing

/// Delivering an event makes no Swift object: no box, no closure context, no array.
@Suite(.serialized, .enabled(if: ObjectCounter.isAvailable)) struct AllocationTests {
    static let deliveries = 10_000

    @Test("A tick of a timer makes no object")
    func timerTick() async throws {
        let made = try await withRunLoopThread {
            var ticks = 0
            let timer = RunLoop.Timer(at: .now, every: .nanoseconds(1)) { timer in
                ticks += 1
                if ticks == 100 { ObjectCounter.start() }
                if ticks == 100 + Self.deliveries { timer.invalidate() }
            }
            RunLoop.current.add(timer, forMode: .default)
            RunLoop.current.run()
            return ObjectCounter.stop()
        }
        #expect(made == 0)
    }

    @Test("A tick of a timer that its creator dropped makes no object")
    func droppedTimerTick() async throws {
        let made = try await withRunLoopThread {
            var ticks = 0
            RunLoop.current.add(
                RunLoop.Timer(at: .now, every: .nanoseconds(1)) { timer in
                    ticks += 1
                    if ticks == 100 { ObjectCounter.start() }
                    if ticks == 100 + Self.deliveries { timer.invalidate() }
                }, forMode: .default)
            RunLoop.current.run()
            return ObjectCounter.stop()
        }
        #expect(made == 0)
    }

    @Test("A source that performs and an observer that is told make no object")
    func sourceAndObserver() async throws {
        let made = try await withRunLoopThread {
            let performed = Count()
            let told = Count()
            let loop = RunLoop.current
            let source = RunLoop.Source { performed.increment() }
            let observer = RunLoop.Observer(.all) { _, _ in told.increment() }
            try loop.add(source, forMode: .default)
            loop.add(observer, forMode: .default)
            for round in 0..<(100 + Self.deliveries) {
                if round == 100 { ObjectCounter.start() }
                source.signal()
                loop.run(mode: .default, for: .zero)
            }
            let made = ObjectCounter.stop()
            #expect(performed.value == 100 + Self.deliveries)
            #expect(told.value == 4 * performed.value)
            return made
        }
        #expect(made == 0)
    }

    @Test("A ready descriptor makes no object")
    func readyDescriptor() async throws {
        let made = try await withRunLoopThread {
            try withPipe { reader, writer in
                let called = Count()
                let source = try RunLoop.Source(fileDescriptor: reader) { _ in called.increment() }
                try RunLoop.current.add(source, forMode: .default)
                writeByte(writer)
                for round in 0..<(100 + Self.deliveries) {
                    if round == 100 { ObjectCounter.start() }
                    RunLoop.current.run(mode: .default, for: .zero)
                }
                let made = ObjectCounter.stop()
                #expect(called.value == 100 + Self.deliveries)
                source.invalidate()
                return made
            }
        }
        #expect(made == 0)
    }

    @Test("The counter counts")
    func counterCounts() async throws {
        let made = try await withRunLoopThread {
            ObjectCounter.start()
            for _ in 0..<10 { RunLoop.current.perform {} }
            return ObjectCounter.stop()
        }
        #expect(made >= 10)
    }
}

/// Counts the Swift objects that one thread makes, through the runtime's own hook for that (`_swift_allocObject`, the
/// function pointer that profilers replace). Deterministic: no sizes, no other threads, no caches of the allocator.
enum ObjectCounter {
    private typealias Allocate = @convention(c) (UnsafeRawPointer?, Int, Int) -> UnsafeMutableRawPointer?

    private nonisolated(unsafe) static let hook: UnsafeMutablePointer<Allocate>? =
        dlsym(nil, "_swift_allocObject")?.assumingMemoryBound(to: Allocate.self)
    private nonisolated(unsafe) static var original: Allocate?
    private nonisolated(unsafe) static var thread: pthread_t = 0
    private nonisolated(unsafe) static var count = 0

    static var isAvailable: Bool { hook != nil }

    static func start() {
        guard let hook else { return }
        count = 0
        thread = pthread_self()
        original = hook.pointee
        hook.pointee = { metadata, size, alignmentMask in
            if pthread_self() == ObjectCounter.thread { ObjectCounter.count += 1 }
            return ObjectCounter.original?(metadata, size, alignmentMask)
        }
    }

    static func stop() -> Int {
        if let hook, let original { hook.pointee = original }
        return count
    }
}
