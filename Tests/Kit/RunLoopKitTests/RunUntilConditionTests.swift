import RunLoopKit
import Testing

@Suite struct RunUntilConditionTests {
    @Test("A run ends when its condition holds, and returns that")
    func holds() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            let count = Count()
            #expect(loop.run(until: { true }, deadline: .now + generous))
            try loop.add(RunLoop.Timer(every: .milliseconds(1)) { _ in count.increment() }, forMode: .default)
            #expect(loop.run(until: { count.value == 3 }, deadline: .now + generous))
            #expect(count.value <= 4)
            #expect(!loop.run(until: { false }, deadline: .now + .milliseconds(5)))
            #expect(!loop.run(mode: "empty", until: { false }, deadline: .now + generous))
            #expect(!loop.run(mode: .common, until: { false }, deadline: .now + generous))
        }
    }

    @Test("Without a deadline a run lasts until its condition holds, it is stopped, or its mode is empty")
    func withoutDeadline() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let count = Count()
            #expect(!loop.run(until: { false }, deadline: nil))
            let timer = RunLoop.Timer(every: .milliseconds(1)) { _ in count.increment() }
            try loop.add(timer, forMode: .default)
            #expect(loop.run(until: { count.value == 3 }, deadline: nil))
            #expect(loop.run(mode: "unknown", until: { true }, deadline: nil))
            loop.perform { loop.stop() }
            #expect(!loop.run(mode: .default, until: { false }, deadline: nil))
            timer.invalidate()
            #expect(!loop.run(until: { false }, deadline: nil))
        }
    }

    @Test("A condition that another thread makes true is seen when that thread wakes the loop")
    func wokenFromOutside() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            let count = Count()
            let other = TestThread {
                _ = waitUntil { loop.isWaiting }
                count.increment()
                loop.wakeUp()
            }
            #expect(loop.run(until: { count.value == 1 }, deadline: .now + generous))
            other.join()
        }
    }

    @Test("R46 A condition ends its own run, and not a nested one")
    func nestedRuns() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            let trace = Trace()
            loop.perform {
                trace.note("inner begins")
                loop.perform { trace.note("outer's condition holds") }
                let result = loop.run(mode: .default, for: .milliseconds(10))
                trace.note("inner \(result)")
            }
            #expect(loop.run(until: { trace.all.contains("outer's condition holds") }, deadline: .now + generous))
            #expect(trace.all == ["inner begins", "outer's condition holds", "inner timedOut"])
            // It leaves neither a stop nor an observer.
            #expect(loop.run(mode: .default, for: .milliseconds(1)) == .timedOut)
        }
    }

    @Test("R46 A stop ends such a run like any other")
    func stopped() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            loop.perform { RunLoop.current.stop() }
            #expect(!loop.run(until: { false }, deadline: .now + generous))
        }
    }
}
