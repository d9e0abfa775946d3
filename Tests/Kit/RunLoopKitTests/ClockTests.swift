import Glibc
import RunLoopKit
import RunLoopKitTesting
import Testing

@Suite struct ClockTests {
    @Test("A sleep on the loop's clock ends not before its deadline, with each of its methods")
    func notBefore() async throws {
        let thread = try RunLoop.Thread()
        let clock = thread.loop.clock
        let sleeps: [@Sendable (RunLoop.Instant) async throws -> Void] = [
            { try await clock.sleep(until: $0) },
            { try await clock.sleep(until: $0, tolerance: .milliseconds(1)) },
            { try await Task.sleep(until: $0, clock: clock) },
            { try await Task.sleep(until: $0, tolerance: .milliseconds(1), clock: clock) },
        ]
        for sleep in sleeps {
            let deadline = clock.now + .milliseconds(3)
            try await sleep(deadline)
            #expect(.now >= deadline)
        }
        let start = clock.now
        try await clock.sleep(for: .milliseconds(3))
        try await Task.sleep(for: .milliseconds(3), clock: clock)
        #expect(clock.now - start >= .milliseconds(6))
        #expect(clock.minimumResolution == .nanoseconds(1))
    }

    @Test("A task on the loop's thread begins its sleep there, and continues there")
    func staysOnThread() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let sleeper = SleepingActor(loop)
        #expect(try await sleeper.sleep(for: .milliseconds(2)))
        // The timer exists when the task has run to its first suspension: no other thread is involved.
        let task = await thread.performAndWait {
            let task = Task.immediate { try await loop.clock.sleep(for: .seconds(1000)) }
            #expect(loop.nextFireDate(inMode: .default) != nil)
            return task
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A sleep until a deadline that has passed returns at once, and throws in a cancelled task")
    func past() async throws {
        let thread = try RunLoop.Thread()
        let clock = thread.loop.clock
        try await clock.sleep(until: .now - .seconds(1))
        try await clock.sleep(for: .zero)
        try await thread.loop.clock(inMode: "never run").sleep(for: .seconds(-1000))
        thread.stop()
        try await withRunLoopThread { thread.join() }
        try await clock.sleep(until: .now - .seconds(1))
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await clock.sleep(until: .now - .seconds(1))
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A cancelled sleep throws at once, after its timer was freed")
    func cancellation() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        // The last one is never reached.
        for duration in [Duration.seconds(1000), .seconds(Int64.max)] {
            let isGone = Task {
                do {
                    try await loop.clock.sleep(for: duration)
                    return false
                } catch is CancellationError {
                    return loop.nextFireDate(inMode: .default) == nil
                }
            }
            if duration == .seconds(1000) {
                #expect(try await eventually { loop.nextFireDate(inMode: .default) != nil })
            }
            isGone.cancel()
            #expect(try await isGone.value)
        }
    }

    @Test("A cancellation after the sleep has no effect")
    func lateCancellation() async throws {
        let thread = try RunLoop.Thread()
        let task = Task {
            try await thread.loop.clock.sleep(for: .milliseconds(1))
            return true
        }
        #expect(try await task.value)
        task.cancel()
        #expect(try await task.value)
    }

    @Test("A sleep whose loop's thread ends, or has ended, throws")
    func endOfThread() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let sleeping = (0..<3).map { number in
            Task { try await loop.clock(inMode: number == 0 ? "never run" : .common).sleep(for: .seconds(1000)) }
        }
        #expect(try await eventually { loop.nextFireDate(inMode: "never run") != nil })
        thread.stop()
        for task in sleeping { await #expect(throws: RunLoop.Error.loopFinished) { try await task.value } }
        try await withRunLoopThread { thread.join() }
        await #expect(throws: RunLoop.Error.loopFinished) { try await loop.clock.sleep(for: .seconds(1000)) }
    }

    @Test("A sleep ends only when the loop runs in its mode")
    func modes() async throws {
        // In real time, the deadline could be over before the task has begun to sleep.
        try await withVirtualTime { loop, time in
            let ended = Handed<Bool>()
            let awake = Count()
            let start = time.now
            Task {
                try await loop.clock(inMode: "sleep").sleep(until: start + .milliseconds(1))
                awake.increment()
                ended.put(true)
            }
            #expect(waitUntil { loop.nextFireDate(inMode: "sleep") != nil })
            try loop.add(RunLoop.Source {}, forMode: .default)
            #expect(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
            #expect(time.now == start + .milliseconds(5))
            #expect(awake.value == 0)
            #expect(loop.run(mode: "sleep", for: generous) == .finished)
            #expect(ended.take() == true)
            #expect(loop.clock(inMode: "sleep") == loop.clock(inMode: "sleep"))
            #expect(loop.clock(inMode: "sleep") != loop.clock)
        }
    }

    @Test("Within its tolerance a sleep waits for another wake-up")
    func tolerance() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        #expect(try await eventually { loop.isWaiting })
        let deadline = RunLoop.Instant.now + .milliseconds(5)
        let awake = Count()
        let task = Task {
            try await loop.clock(inMode: .default).sleep(until: deadline, tolerance: .seconds(1000))
            awake.increment()
        }
        // A task that is late does not wait, and shows nothing about tolerance.
        #expect(try await eventually { loop.nextFireDate(inMode: .default) != nil || awake.value == 1 })
        let isAsleep = awake.value == 0
        #expect(try await eventually { RunLoop.Instant.now > deadline + .milliseconds(10) })
        if isAsleep { #expect(awake.value == 0) }
        loop.wakeUp()
        try await task.value
    }

    @Test("Sleeps, cancellations and the end of the thread at once: every task is resumed")
    func races() async throws {
        for attempt in 0..<40 {
            let thread = try RunLoop.Thread()
            let clock = thread.loop.clock
            let tasks = (0..<12).map { number in
                Task { try await clock.sleep(for: .microseconds(number * 40)) }
            }
            for (number, task) in tasks.enumerated() where number % 3 == attempt % 3 { task.cancel() }
            if attempt % 2 == 0 { thread.stop() }
            for task in tasks {
                guard case .failure(let error) = await task.result else { continue }
                #expect(error is CancellationError || error as? RunLoop.Error == .loopFinished)
                #expect(error is CancellationError || attempt % 2 == 0)
            }
            // The timer that fired last may still be returning from its call.
            #expect(try await eventually { thread.loop.nextFireDate(inMode: .default) == nil })
        }
    }
}

private actor SleepingActor {
    private let loop: RunLoop

    init(_ loop: RunLoop) {
        self.loop = loop
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    /// Was it on the loop's thread before and after?
    func sleep(for duration: Duration) async throws -> Bool {
        let before = loop.isCurrent
        try await loop.clock.sleep(for: duration)
        let between = loop.isCurrent
        try await Task.sleep(until: .now + duration, clock: loop.clock)
        return before && between && loop.isCurrent
    }
}
