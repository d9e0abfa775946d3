import RunLoopKit
import Testing

@Suite struct RunningTests {
    @Test("R22 R23 R28 A run of no mode and of an empty mode finishes at once, unobserved")
    func emptyModes() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let notified = Count()
            let observer = RunLoop.Observer(.all) { _, _ in notified.increment() }
            try loop.add(observer, forMode: .common)
            #expect(loop.run(mode: .default) == .finished)
            #expect(loop.run(mode: .common) == .finished)
            #expect(loop.run(mode: "unknown", for: generous) == .finished)
            #expect(loop.run(until: .now + generous) == .finished)
            loop.run()
            #expect(notified.value == 0)
        }
    }

    @Test("R31 A limit that was reached gives one iteration that never sleeps")
    func oneIteration() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            try loop.add(RunLoop.Source {}, forMode: .default)
            let observer = RunLoop.Observer(.all) { _, activity in trace.note("\(activity.rawValue)") }
            try loop.add(observer, forMode: .default)
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(loop.run(mode: .default, for: .seconds(-1)) == .timedOut)
            #expect(loop.run(mode: .default, until: .now - .seconds(1)) == .timedOut)
            #expect(loop.run(until: .now - .seconds(1)) == .timedOut)
            #expect(trace.all == Array(repeating: ["1", "2", "4", "128"], count: 4).flatMap { $0 })
        }
    }

    @Test("R32 R34 A run does not end before its limit")
    func notBeforeLimit() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            let limit = Duration.milliseconds(20)
            var start = RunLoop.Instant.now
            #expect(loop.run(mode: .default, for: limit) == .timedOut)
            #expect(RunLoop.Instant.now - start >= limit)
            start = .now
            #expect(loop.run(mode: .default, until: start + limit) == .timedOut)
            #expect(RunLoop.Instant.now >= start + limit)
            start = .now
            #expect(loop.run(until: start + limit) == .timedOut)
            #expect(RunLoop.Instant.now >= start + limit)
        }
    }

    @Test("A positive limit below a nanosecond is not zero")
    func tinyLimit() async throws {
        try await withRunLoopThread {
            let waited = Count()
            try RunLoop.current.add(RunLoop.Source {}, forMode: .default)
            let observer = RunLoop.Observer(.beforeWaiting) { _, _ in waited.increment() }
            try RunLoop.current.add(observer, forMode: .default)
            let tiny = Duration(secondsComponent: 0, attosecondsComponent: 1)
            #expect(RunLoop.current.run(mode: .default, for: tiny) == .timedOut)
            #expect(waited.value >= 1)
        }
    }

    @Test("A limit that is too large is no limit, in both directions")
    func hugeLimit() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            loop.perform(after: .milliseconds(1)) { RunLoop.current.stop() }
            #expect(loop.run(mode: .default, for: .seconds(Int64.max)) == .stopped)
            loop.perform(after: .milliseconds(1)) { RunLoop.current.stop() }
            #expect(loop.run(mode: .default, until: .now + .seconds(Int64.max / 2)) == .stopped)
            #expect(loop.run(mode: .default, for: .seconds(Int64.min)) == .timedOut)
        }
    }

    @Test("R36 R38 A handled source ends a run that is to return then")
    func handledSource() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let performed = Count()
            let source = RunLoop.Source { performed.increment() }
            try loop.add(source, forMode: .default)
            source.signal()
            #expect(loop.run(mode: .default, returnAfterSourceHandled: true) == .handledSource)
            #expect(performed.value == 1)
            source.signal()
            #expect(loop.run(mode: .default, for: .zero, returnAfterSourceHandled: true) == .handledSource)
            source.signal()
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(performed.value == 3)
        }
    }

    @Test("R46 A stop ends the innermost run only")
    func stopInnermost() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            try loop.add(RunLoop.Source {}, forMode: .default)
            try loop.add(RunLoop.Source {}, forMode: "inner")
            loop.perform {
                RunLoop.current.perform(inModes: ["inner"]) { RunLoop.current.stop() }
                trace.note("inner \(RunLoop.current.run(mode: "inner"))")
                RunLoop.current.perform {
                    trace.note("outer goes on")
                    RunLoop.current.stop()
                }
            }
            trace.note("outer \(loop.run(mode: .default))")
            #expect(trace.all == ["inner stopped", "outer goes on", "outer stopped"])
        }
    }

    @Test("R46 A stop from another thread ends a sleep")
    func stopFromElsewhere() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            let stopper = TestThread {
                #expect(waitUntil { loop.isWaiting })
                loop.stop()
            }
            #expect(loop.run(mode: .default) == .stopped)
            stopper.join()
        }
    }

    @Test("R47 A stop without a run is forgotten, a latched one is not")
    func latchedStop() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            loop.stop()
            #expect(loop.run(mode: .default, for: .milliseconds(1)) == .timedOut)
            loop.stop(remembered: true)
            loop.stop(remembered: true)
            #expect(loop.run(mode: .default) == .stopped)
            #expect(loop.run(mode: .default, for: .milliseconds(1)) == .timedOut)
        }
    }

    @Test("R53 A stop in a mode waits for that mode")
    func stopInMode() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            try loop.add(RunLoop.Source {}, forMode: "other")
            loop.stop(inMode: "other")
            #expect(loop.run(mode: .default, for: .milliseconds(1)) == .timedOut)
            #expect(loop.run(mode: "other") == .stopped)
            #expect(loop.run(mode: "other", for: .milliseconds(1)) == .timedOut)
        }
    }

    @Test("R50 A wake-up ends one sleep, and the run continues")
    func wakeUp() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let sleeps = Count()
            try loop.add(RunLoop.Source {}, forMode: .default)
            let observer = RunLoop.Observer(.afterWaiting) { _, _ in
                sleeps.increment()
                if sleeps.value == 3 { RunLoop.current.stop() }
            }
            try loop.add(observer, forMode: .default)
            let waker = TestThread {
                while sleeps.value < 3 {
                    let before = sleeps.value
                    guard waitUntil({ loop.isWaiting }) else { return }
                    loop.wakeUp()
                    guard waitUntil({ sleeps.value > before }) else { return }
                }
            }
            #expect(loop.run(mode: .default, for: generous) == .stopped)
            waker.join()
            #expect(sleeps.value == 3)
        }
    }

    @Test("R52 A loop that sleeps is waiting")
    func isWaiting() async throws {
        try await withRunLoopThread {
            try withLoopElsewhere { loop in
                #expect(waitUntil { loop.isWaiting })
                #expect(loop.currentMode == .default)
                #expect(!loop.isCurrent)
            }
        }
    }

    @Test("R26 Runs nest, and each returns its own result")
    func nestedRuns() async throws {
        try await withRunLoopThread {
            let trace = Trace()
            nest(depth: 5, trace)
            #expect(trace.all == ["5 finished", "4 finished", "3 finished", "2 finished", "1 finished"])
        }

        @Sendable func nest(depth: Int, _ trace: Trace) {
            guard depth > 0 else { return }
            let mode = RunLoop.Mode(rawValue: "depth \(depth)")
            RunLoop.current.perform(inModes: [mode]) { nest(depth: depth - 1, trace) }
            let result = RunLoop.current.run(mode: mode)
            trace.note("\(6 - depth) \(result)")
        }
    }

    @Test("Running another thread's loop is refused")
    func wrongThread() async throws {
        await #expect(processExitsWith: .failure) {
            await runElsewhere { $0.run(mode: .default, for: .zero) }
        }
        await #expect(processExitsWith: .failure) {
            await runElsewhere { $0.run() }
        }
        await #expect(processExitsWith: .failure) {
            await runElsewhere { $0.run(until: .now) }
        }
    }

    @Test("Stopping the common modes is refused")
    func stopInCommonModes() async throws {
        await #expect(processExitsWith: .failure) { RunLoop.main.stop(inMode: .common) }
    }
}

/// Calls `body` with the main loop on another thread.
private func runElsewhere(_ body: @escaping @Sendable (RunLoop) -> Void) async {
    try? await withRunLoopThread { body(RunLoop.main) }
}
