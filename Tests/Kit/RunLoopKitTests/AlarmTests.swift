import CRunLoopCore
import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

@Suite struct AlarmTests {
    @Test("An alarm of the wall clock is called with its date, not before the clock shows it, and then has none")
    func wallClock() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            let date = RunLoop.WallInstant.now + .milliseconds(20)
            let alarm = try RunLoop.Alarm(at: date) { alarm, tick in
                trace.note(
                    "\(RunLoop.WallInstant.now >= date) \(tick.date == date) \(tick.missed) \(alarm.nextDate == nil)")
            }
            #expect(alarm.nextDate == date)
            #expect(alarm.interval == nil)
            try loop.add(alarm.source, forMode: .default)
            #expect(loop.contains(alarm.source, inMode: .default))
            loop.run(mode: .default, for: generous, returnAfterSourceHandled: true)
            #expect(trace.all == ["true true 0 true"])
            #expect(alarm.source.isValid)
            loop.remove(alarm.source, forMode: .default)
            #expect(loop.isEmpty(inMode: .default))
        }
    }

    @Test("An alarm of boot time has the instants of Swift's continuous clock")
    func bootTime() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            let date = ContinuousClock.now + .milliseconds(20)
            let alarm = try RunLoop.Alarm(at: date, every: .seconds(3600)) { _, tick in
                trace.note("\(ContinuousClock.now >= date) \(tick.date == date) \(tick.missed)")
            }
            try loop.add(alarm.source, forMode: .default)
            loop.run(mode: .default, for: generous, returnAfterSourceHandled: true)
            #expect(trace.all == ["true true 0"])
            #expect(alarm.nextDate == date + .seconds(3600))
            #expect(alarm.interval == .seconds(3600))
            alarm.source.invalidate()
        }
    }

    @Test("Dates that have passed are one call for the latest, with the number of the others")
    func missed() async throws {
        try await withRunLoopThread {
            let trace = Trace()
            let first = RunLoop.WallInstant.now - .seconds(3 * 3600 + 1800)
            let alarm = try RunLoop.Alarm(at: first, every: .seconds(3600)) { alarm, tick in
                trace.note("\(tick.date == first + .seconds(3 * 3600)) \(tick.missed)")
                trace.note("\(alarm.nextDate == first + .seconds(4 * 3600))")
            }
            try RunLoop.current.add(alarm.source, forMode: .default)
            RunLoop.current.run(mode: .default, for: .zero)
            RunLoop.current.run(mode: .default, for: .zero)
            #expect(trace.all == ["true 3", "true"])
        }
    }

    @Test("An action gets the alarm, sets its next date, and invalidates it, whether the program has the object or not")
    func nextDate() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let calls = Count()
            let same = Handed<Bool>()
            let act: @Sendable (RunLoop.Alarm<RunLoop.WallInstant>, RunLoop.Alarm<RunLoop.WallInstant>.Tick) -> Void = {
                alarm, tick in
                calls.increment()
                alarm.nextDate = tick.date + .milliseconds(1)
                if calls.value % 3 == 0 { alarm.source.invalidate() }
            }
            try loop.add(RunLoop.Alarm(at: .now, act).source, forMode: .default)
            #expect(loop.run(mode: .default, for: generous) == .finished)
            #expect(calls.value == 3)

            // Who keeps it gets the same again.
            let (kept, areSame) = (Guarded<RunLoop.Alarm<RunLoop.WallInstant>?>(nil), Trace())
            try loop.add(
                RunLoop.Alarm(at: RunLoop.WallInstant.now) { alarm, tick in
                    areSame.note("\(kept.withLock { $0.map { $0 === alarm } ?? true })")
                    kept.withLock { $0 = alarm }
                    alarm.nextDate = tick.date + .milliseconds(1)
                    if areSame.all.count == 2 { alarm.source.invalidate() }
                }.source, forMode: .default)
            #expect(loop.run(mode: .default, for: generous) == .finished)
            #expect(areSame.all == ["true", "true"])

            nonisolated(unsafe) weak var known: RunLoop.Alarm<RunLoop.WallInstant>?
            let alarm = try RunLoop.Alarm(at: RunLoop.WallInstant.now) { alarm, _ in same.put(alarm === known) }
            known = alarm
            try loop.add(alarm.source, forMode: .default)
            loop.run(mode: .default, for: generous, returnAfterSourceHandled: true)
            #expect(same.take() == true)
            alarm.source.invalidate()
            alarm.nextDate = .now
            #expect(loop.run(mode: .default, for: .zero) == .finished)
        }
    }

    @Test("Another thread moves the alarm of a loop that sleeps")
    func moved() throws {
        try withLoopElsewhere { loop in
            let called = Handed<Bool>()
            let alarm = try RunLoop.Alarm(at: RunLoop.WallInstant.now + .seconds(3600)) { _, _ in
                called.put(loop.isCurrent)
            }
            try loop.add(alarm.source, forMode: .default)
            #expect(waitUntil { loop.isWaiting })
            alarm.nextDate = nil
            #expect(alarm.nextDate == nil)
            alarm.nextDate = .now
            #expect(called.take() == true)
            alarm.source.invalidate()
        }
    }

    @Test("The dates of a schedule are a sequence, of either clock; it ends with the loop's thread")
    func sequence() async throws {
        let thread = try RunLoop.Thread()
        let first = RunLoop.WallInstant.now + .milliseconds(5)
        var dates: [RunLoop.WallInstant] = []
        for try await tick in thread.loop.ticks(at: first, every: .milliseconds(1)) {
            #expect(RunLoop.WallInstant.now >= tick.date)
            let last = dates.last ?? first - .milliseconds(1)
            #expect(tick.date == last + .milliseconds(1 + tick.missed))
            dates.append(tick.date)
            if dates.count == 5 { break }
        }
        #expect(dates.count == 5)
        var iterator = thread.loop.ticks(at: ContinuousClock.now, every: .seconds(3600)).makeAsyncIterator()
        #expect(try await iterator.next()?.missed == 0)
        thread.stop()
        #expect(try await iterator.next() == nil)
    }

    @Test("A sleep by the wall clock is not too short, is cancelled, and ends with the loop's thread")
    func sleep() async throws {
        let thread = try RunLoop.Thread()
        let clock = thread.loop.wallClock
        let deadline = clock.now + .milliseconds(20)
        try await clock.sleep(until: deadline)
        #expect(clock.now >= deadline)
        try await clock.sleep(until: deadline)
        try await Task.sleep(until: clock.now + .milliseconds(1), clock: clock)

        let sleeper = Task.immediate { try await clock.sleep(until: .now + .seconds(3600)) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(until: deadline)
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let other = Task { try await clock.sleep(until: .now + .seconds(3600)) }
        try await Task.sleep(for: .milliseconds(5))
        thread.stop()
        await #expect(throws: RunLoop.Error.loopFinished) { try await other.value }
        await #expect(throws: RunLoop.Error.loopFinished) { try await clock.sleep(until: .now + .seconds(3600)) }
        #expect(clock == thread.loop.wallClock(inMode: .common) && clock != thread.loop.wallClock(inMode: .default))
    }

    @Test("Instants of the wall clock are those of timespec, and saturate")
    func instants() {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let instant = RunLoop.WallInstant(secondsSince1970: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
        #expect(instant.secondsSince1970 == time.tv_sec)
        #expect(instant.nanosecondsOfSecond == time.tv_nsec)
        #expect(instant <= .now)
        let before = RunLoop.WallInstant(secondsSince1970: -1, nanoseconds: -1)
        #expect(before.secondsSince1970 == -2 && before.nanosecondsOfSecond == 999_999_999)
        let first = RunLoop.WallInstant(secondsSince1970: .min)
        #expect(first.secondsSince1970 == -9_223_372_037 && first.nanosecondsOfSecond == 145_224_192)
        let last = RunLoop.WallInstant(secondsSince1970: .max)
        #expect(last + .seconds(1) == last && last - .seconds(1) == last && first - .seconds(1) == first)
        #expect(instant + .seconds(1) - instant == .seconds(1) && first < before && before < last)
    }

    @Test("An alarm at the instant that never comes has no date")
    func never() throws {
        let alarm = try RunLoop.Alarm(at: RunLoop.WallInstant(secondsSince1970: .max)) { _, _ in }
        #expect(alarm.nextDate == nil)
    }

    @Test("An alarm and a source of clock changes that are freed free their closures")
    func freed() throws {
        let freed = Count()
        do {
            let token = Token(freed)
            _ = try RunLoop.Alarm(at: RunLoop.WallInstant.now) { _, _ in token.touch() }
            _ = try RunLoop.Source.clockChanges { _ in token.touch() }
        }
        #expect(freed.value == 1)
    }

    @Test("An interval that is not greater than zero is a precondition failure") func interval() async {
        await #expect(processExitsWith: .failure) {
            _ = try RunLoop.Alarm(at: RunLoop.WallInstant.now, every: .zero) { _, _ in }
        }
    }
}
