import RunLoopKit
import RunLoopKitLinux
import Testing

/// What is reported for clocks that jump is in clock_watches.c: no test sets the clock of its machine.
@Suite struct ClockChangeTests {
    @Test("A change has what has happened, and nothing else")
    func change() {
        let step = RunLoop.ClockChange(stepNanoseconds: -5_000_000_000, suspendedNanoseconds: 0)
        #expect(step.wallClockStep == .seconds(-5) && step.suspension == nil)
        let sleep = RunLoop.ClockChange(stepNanoseconds: 0, suspendedNanoseconds: 1_000_000_000)
        #expect(sleep.wallClockStep == nil && sleep.suspension == .seconds(1))
        let both = RunLoop.ClockChange(stepNanoseconds: 1, suspendedNanoseconds: 3_600_000_000_000)
        #expect(both.wallClockStep == .nanoseconds(1) && both.suspension == .seconds(3600))
    }

    @Test("A source of changes keeps its mode, and is quiet while nothing changes")
    func quiet() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let told = Count()
            let source = try RunLoop.Source.clockChanges { _ in told.increment() }
            try loop.add(source, forMode: .default)
            #expect(loop.run(mode: .default, for: .milliseconds(20)) == .timedOut)
            source.invalidate()
            #expect(loop.run(mode: .default, for: .zero) == .finished)
            #expect(told.value == 0)
        }
    }

    @Test("The sequence of changes ends with the loop's thread, and with its task")
    func sequence() async throws {
        let thread = try RunLoop.Thread()
        let changes = thread.loop.clockChanges()
        let cancelled = Task { try await changes.first { _ in true } }
        cancelled.cancel()
        #expect(try await cancelled.value == nil)
        let ended = Task { try await changes.first { _ in true } }
        thread.stop()
        #expect(try await ended.value == nil)
    }
}
