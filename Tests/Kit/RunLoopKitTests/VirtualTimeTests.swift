import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitTesting
import Testing

@Suite struct VirtualTimeTests {
    @Test("R74 An hour of timers passes at once, and each fires at its instant")
    func hour() async throws {
        try await withVirtualTime { loop, time in
            let start = time.now
            let instants = Guarded<[Duration]>([])
            try loop.add(
                RunLoop.Timer(every: .seconds(60)) { _ in
                    let now = RunLoop.Instant.now - start
                    instants.withLock { $0.append(now) }
                }, forMode: .default)
            time.advance(by: .seconds(3600))
            #expect(instants.withLock { $0 } == (1...60).map { .seconds(60 * $0) })
            #expect(time.now - start == .seconds(3600))
            #expect(RunLoop.Instant.now == time.now)
        }
    }

    @Test("Timeouts, delayed performs, limits and conditions follow the virtual time")
    func everything() async throws {
        try await withVirtualTime { loop, time in
            let start = time.now
            let trace = Trace()
            let timeout = RunLoop.Timeout(on: loop, after: .seconds(10)) { trace.note("timeout") }
            loop.perform(after: .seconds(5)) { trace.note("performed") }
            time.advance(by: .seconds(5) - .nanoseconds(1))
            #expect(trace.all.isEmpty)
            time.advance(by: .nanoseconds(1))
            #expect(trace.all == ["performed"])
            timeout.reschedule(after: .seconds(100))
            #expect(loop.run(mode: .default, for: .seconds(50)) == .timedOut)
            #expect(time.now - start == .seconds(55))
            try loop.runUntil("the timeout", within: .seconds(50)) { trace.all.count == 2 }
            #expect(time.now - start == .seconds(105))
            // Its limit is real, and no reason for time to pass.
            #expect(throws: AwaitedConditionFailure.self) {
                try loop.runUntil("nothing", within: .milliseconds(20)) { false }
            }
            #expect(time.now - start == .seconds(105))
            let isValid = timeout.isValid
            #expect(!isValid)
        }
    }

    @Test("An advance ends when nothing is left to do, whatever stops the loop, and passes an empty mode")
    func advance() async throws {
        try await withVirtualTime { loop, time in
            let start = time.now
            time.advance(by: .seconds(1))
            time.advance(by: .seconds(-1))
            #expect(time.now - start == .seconds(1))
            let trace = Trace()
            try loop.add(
                RunLoop.Timer(after: .seconds(1)) { _ in
                    loop.stop()
                    loop.perform {
                        try! loop.add(RunLoop.Timer(after: .zero) { _ in trace.note("then") }, forMode: .default)
                    }
                }, forMode: .default)
            try loop.add(RunLoop.Timer(after: .seconds(2)) { _ in trace.note("after") }, forMode: .default)
            time.advance(by: .seconds(1))
            #expect(trace.all == ["then"])
            time.advance(by: .seconds(1))
            #expect(trace.all == ["then", "after"])
        }
    }

    @Test("A closure of the loop can let time pass, in a nested run")
    func nested() async throws {
        try await withVirtualTime { loop, time in
            let trace = Trace()
            try loop.add(RunLoop.Timer(after: .seconds(2)) { _ in trace.note("inner") }, forMode: .default)
            try loop.add(
                RunLoop.Timer(after: .seconds(1)) { _ in
                    time.advance(by: .seconds(5))
                    trace.note("outer")
                }, forMode: .default)
            time.advance(by: .seconds(3))
            #expect(trace.all == ["inner", "outer"])
        }
    }

    @Test("Time does not jump while there is real work")
    func realWork() async throws {
        try await withVirtualTime { loop, time in
            let start = time.now
            let answer = Guarded<RunLoop.Instant?>(nil)
            let work = time.beginRealWork()
            let thread = TestThread {
                _ = waitUntil { loop.isWaiting }
                loop.perform { answer.withLock { $0 = .now } }
                work.end()
                work.end()
            }
            try loop.runUntil("the answer", within: .seconds(3600)) { answer.withLock { $0 != nil } }
            thread.join()
            #expect(answer.withLock { $0 } == start)
            time.advance(by: .seconds(1))
            #expect(time.now >= start + .seconds(1))
        }
    }

    @Test("An advance in an empty mode waits for real work")
    func realWorkInEmptyMode() async throws {
        await withVirtualTime { loop, time in
            let start = time.now
            let answer = Guarded<RunLoop.Instant?>(nil)
            let work = time.beginRealWork()
            let thread = TestThread {
                pauseShortly()
                loop.perform { answer.withLock { $0 = .now } }
                work.end()
            }
            time.advance(by: .seconds(1))
            thread.join()
            #expect(answer.withLock { $0 } == start)
            #expect(time.now - start == .seconds(1))
        }
    }

    @Test("What was performed before real work ended comes before a jump, however close the loop is to one")
    func realWorkEndsLate() async throws {
        try await withVirtualTime { loop, time in
            for _ in 0..<2000 {
                let start = time.now
                let answer = Guarded<RunLoop.Instant?>(nil)
                let work = time.beginRealWork()
                let thread = TestThread {
                    while !loop.isWaiting {}
                    loop.perform { answer.withLock { $0 = .now } }
                    work.end()
                }
                try loop.runUntil("the answer", within: .seconds(3600)) { answer.withLock { $0 != nil } }
                thread.join()
                #expect(answer.withLock { $0 } == start)
            }
        }
    }

    @Test("A loop that waits sees that real work has ended, though nothing was performed")
    func realWorkEndsAlone() async throws {
        await withVirtualTime { loop, time in
            let start = time.now
            let work = time.beginRealWork()
            let thread = TestThread {
                _ = waitUntil { loop.isWaiting }
                pauseShortly()
                work.end()
            }
            time.advance(by: .seconds(1))
            thread.join()
            #expect(time.now - start == .seconds(1))
        }
    }

    @Test("Real work that is ended twice ends once, and what nobody refers to any more has ended")
    func realWorkEndsOnce() async throws {
        await withVirtualTime { loop, time in
            let start = time.now
            let first = time.beginRealWork()
            first.end()
            first.end()
            let answer = Guarded<RunLoop.Instant?>(nil)
            let second = Guarded<RunLoop.VirtualTime.RealWork?>(time.beginRealWork())
            let thread = TestThread {
                pauseShortly()
                loop.perform { answer.withLock { $0 = .now } }
                second.withLock { $0 = nil }
            }
            time.advance(by: .seconds(1))
            thread.join()
            #expect(answer.withLock { $0 } == start)
            #expect(time.now - start == .seconds(1))
        }
    }

    @Test("Sleeps on the loop's clock end in virtual time")
    func sleeps() async throws {
        try await withVirtualTime { loop, time in
            let start = time.now
            let sleeper = VirtualSleeper(loop)
            let task = Task(executorPreference: loop.taskExecutor) { try await sleeper.sleep(for: .seconds(3600)) }
            try loop.runUntil("the sleep begins", within: .seconds(3600)) { loop.nextFireDate(inMode: .default) != nil }
            #expect(loop.nextFireDate(inMode: .default).map { $0 - start } ?? .zero >= .seconds(3600))
            time.advance(by: .seconds(7200))
            try loop.runUntil("the task ends", within: .seconds(3600)) { sleeper.assumeIsolated { $0.slept != nil } }
            #expect(sleeper.assumeIsolated { $0.slept } == .seconds(3600))
            _ = task
        }
    }

    @Test("Every clock of the thread follows the virtual time, and sleeps end at their instants")
    func clocks() async throws {
        try await withVirtualTime { loop, time in
            let begin = (ContinuousClock.now, SuspendingClock.now, wallSeconds())
            time.advance(by: .seconds(3600))
            #expect(ContinuousClock.now - begin.0 == .seconds(3600))
            #expect(SuspendingClock.now - begin.1 == .seconds(3600))
            #expect(wallSeconds() - begin.2 == 3600)
            let alarm = try RunLoop.Alarm(at: RunLoop.WallInstant.now + .seconds(60)) { _, _ in }
            try loop.add(alarm.source, forMode: .default)
            let start = time.now
            try loop.runUntil("the alarm") { time.now - start >= .seconds(60) }
            #expect(time.now - start == .seconds(60))
            alarm.source.invalidate()
        }
    }

    @Test("No time passes for a source of clock changes, nor for alarms that are over")
    func neverDue() async throws {
        try await withVirtualTime { loop, time in
            let start = time.now
            let changes = try RunLoop.Source.clockChanges { _ in }
            try loop.add(changes, forMode: .default)
            let invalid = try RunLoop.Alarm(at: RunLoop.WallInstant.now + .seconds(60)) { _, _ in }
            invalid.source.invalidate()
            _ = try RunLoop.Alarm(at: RunLoop.WallInstant.now + .seconds(120)) { _, _ in }
            #expect(throws: AwaitedConditionFailure.self) {
                try loop.runUntil("nothing", within: .milliseconds(20)) { false }
            }
            #expect(time.now - start == .zero)
            changes.invalidate()
        }
    }

    @Test("Time waits for what a task has done elsewhere: a call that blocks, one on another loop, a child")
    func outsideWork() async throws {
        let other = try RunLoop.Thread()
        try await withVirtualTime { loop, time in
            let done = Trace()
            let timeout = RunLoop.Timeout(on: loop, after: .seconds(60)) { done.note("timeout") }
            let start = time.now
            let calls: [(String, @Sendable () async throws -> Void)] = [
                ("blocking", { try await RunLoop.runBlocking { pauseShortly() } }),
                ("loop", { try await other.loop.performAndWait { pauseShortly() } }),
                ("thread", { await other.performAndWait { pauseShortly() } }),
                ("child", { _ = try await RunLoop.Child.start(["sleep", "0.02"], on: loop).exit() }),
            ]
            for (name, call) in calls {
                _ = Task(executorPreference: loop.taskExecutor) {
                    try await call()
                    done.note(name)
                }
                try loop.runUntil(name) { done.all.last == name || done.all.last == "timeout" }
            }
            #expect(done.all == calls.map(\.0))
            #expect(time.now == start)
            time.advance(by: .seconds(60))
            #expect(done.all.last == "timeout")
            let isValid = timeout.isValid
            #expect(!isValid)
        }
        other.stop()
        await other.join()
    }

    @Test("A timer that is left behind is an error, and the loop has the machine's time all the same")
    func leftBehind() async throws {
        try await withRunLoop { loop in
            let time = RunLoop.VirtualTime()
            let timer = RunLoop.Timer(after: .seconds(1)) { _ in }
            try loop.add(timer, forMode: "other")
            let error = #expect(throws: RunLoop.VirtualTime.TimersLeftBehind.self) { try time.end() }
            #expect("\(error!)".hasPrefix("1 timers") && "\(error!)".contains("other"))
            #expect(!timer.isValid)
            let next = RunLoop.VirtualTime()
            try next.end()
        }
    }

    @Test("A deadline of a source that is left behind is an error as well, and the source stays")
    func deadlineLeftBehind() async throws {
        try await withRunLoop { loop in
            let time = RunLoop.VirtualTime()
            let source = try RunLoop.Source(fileDescriptor: -1) { _ in }
            source.deadline = .now + .seconds(9)
            for mode in [.default, "other"] as [RunLoop.Mode] { try loop.add(source, forMode: mode) }
            let error = #expect(throws: RunLoop.VirtualTime.TimersLeftBehind.self) { try time.end() }
            #expect("\(error!)".hasPrefix("1 timers"))
            #expect(source.isValid && source.deadline == nil)
            source.invalidate()
        }
    }

    @Test("A loop has one virtual time, which lets time pass until it ends, once")
    func oneAtATime() async throws {
        await #expect(processExitsWith: .failure) {
            await withVirtualTime { _, _ in _ = RunLoop.VirtualTime() }
        }
        await #expect(processExitsWith: .failure) {
            try await withVirtualTime { _, time in
                try time.end()
                try time.end()
            }
        }
        await #expect(processExitsWith: .failure) {
            try await withVirtualTime { _, time in
                try time.end()
                time.advance(by: .milliseconds(1))
            }
        }
    }

    @Test("Neither time passes nor an iteration runs in all common modes at once")
    func commonModes() async throws {
        await #expect(processExitsWith: .failure) {
            await withVirtualTime { _, time in time.advance(by: .seconds(1), mode: .common) }
        }
        await #expect(processExitsWith: .failure) { await withRunLoop { loop in _ = loop.iterate(mode: .common) } }
    }

    @Test("Delays of a loop are measured by its time, whoever asks for them")
    func delaysFromElsewhere() async throws {
        await withVirtualTime { loop, time in
            time.advance(by: .seconds(3600))
            let start = time.now
            let ticking = Task.detached { for await _ in loop.ticks(every: .seconds(60)) {} }
            #expect(waitUntil { loop.nextFireDate(inMode: .default) != nil })
            #expect(loop.nextFireDate(inMode: .default) == start + .seconds(60))
            ticking.cancel()
            let shared = SharedTimeout(RunLoop.Timeout(on: loop, after: .zero, inMode: "other") {})
            TestThread { shared.timeout.reschedule(after: .seconds(60)) }.join()
            #expect(shared.timeout.fireDate == start + .seconds(60))
        }
    }

    @Test("A loop has the machine's time again when its virtual one has ended, and can have another")
    func end() async throws {
        try await withRunLoop { loop in
            for _ in 0..<3 {
                let real = RunLoop.Instant.now
                let time = RunLoop.VirtualTime()
                time.advance(by: .seconds(1000))
                #expect(loop.clock.now >= real + .seconds(1000))
                try time.end()
                #expect(loop.clock.now < real + .seconds(1000))
                #expect(RunLoop.Instant.now >= real)
            }
        }
    }
}

private func pauseShortly() { usleep(20_000) }

private func wallSeconds() -> Int { time(nil) }

private final class SharedTimeout: Sendable {
    let timeout: RunLoop.Timeout
    init(_ timeout: consuming RunLoop.Timeout) { self.timeout = timeout }
}

/// On its loop's thread.
private actor VirtualSleeper: RunLoop.BoundActor {
    nonisolated let loop: RunLoop
    var slept: Duration?

    init(_ loop: RunLoop) {
        self.loop = loop
    }

    func sleep(for duration: Duration) async throws {
        let start = loop.clock.now
        try await loop.clock.sleep(for: duration)
        slept = loop.clock.now - start
    }
}
