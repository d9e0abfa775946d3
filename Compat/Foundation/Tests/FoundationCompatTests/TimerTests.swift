import RunLoopKit
import RunLoopKitFoundationCompat
import Testing

import class RunLoopKitFoundationCompat.RunLoop

@Suite struct TimerTests {
    @Test("R132 A timer is in one loop, from any thread, until it is invalid or that loop's thread ends")
    func oneLoop() async throws {
        let trace = Trace()
        let ended = try await onThread {
            let timer = Timer(timeInterval: 1000, repeats: true) { _ in }
            RunLoop.current.add(timer, forMode: .default)
            RunLoop.current.add(timer, forMode: .default)
            return Unguarded(object: timer)
        }
        try await onThread {
            let loop = RunLoop.current
            let timer = Timer(timeInterval: 0.001, repeats: false) { _ in trace.note("fired") }
            let sent = Unguarded(object: (loop, timer))
            Thread.detachNewThread {
                sent.object.0.add(sent.object.1, forMode: .common)
                trace.note("added")
                RunLoop.current.add(sent.object.1, forMode: .default)
                trace.note("empty: \(!RunLoop.current.run(mode: .default, before: .distantFuture))")
            }
            #expect(wait { trace.all.count == 2 })
            #expect(run { !timer.isValid })
            #expect(trace.all == ["added", "empty: true", "fired"])
            // Its thread may still be ending.
            #expect(
                wait {
                    loop.add(ended.object, forMode: .default)
                    return loop.limitDate(forMode: .default) != nil
                })
            ended.object.invalidate()
            loop.add(ended.object, forMode: .default)
            #expect(loop.limitDate(forMode: .default) == nil)
        }
    }

    @Test("R132 R139 The CFRunLoopTimer functions make, add, move, remove and invalidate timers")
    func cfRunLoopTimer() async throws {
        try await onThread {
            let loop = CFRunLoopGetCurrent()
            let trace = Trace()
            let date = CFAbsoluteTimeGetCurrent() + 1000
            let timer = CFRunLoopTimerCreateWithHandler(kCFAllocatorDefault, date, 500, 0, 0) { timer in
                trace.note("fired \(CFRunLoopTimerIsValid(timer))")
                CFRunLoopStop(CFRunLoopGetCurrent())
            }!
            let once = CFRunLoopTimerCreateWithHandler(nil, date, 0, 0, 0) { _ in
                trace.note("once")
                CFRunLoopStop(CFRunLoopGetCurrent())
            }!
            for timer in [timer, once] { CFRunLoopAddTimer(loop, timer, .commonModes) }
            #expect(CFRunLoopContainsTimer(loop, timer, .defaultMode))
            #expect(CFRunLoopTimerDoesRepeat(timer) && CFRunLoopTimerGetInterval(timer) == 500)
            #expect(!CFRunLoopTimerDoesRepeat(once) && CFRunLoopTimerGetNextFireDate(once) == date)
            CFRunLoopRemoveTimer(loop, once, kCFRunLoopCommonModes)
            #expect(!CFRunLoopContainsTimer(loop, once, .defaultMode) && CFRunLoopTimerIsValid(once))
            CFRunLoopTimerSetTolerance(timer, 1)
            #expect(CFRunLoopTimerGetTolerance(timer) == 1)
            let now = CFAbsoluteTimeGetCurrent()
            for timer in [timer, once] { CFRunLoopTimerSetNextFireDate(timer, now) }
            #expect(CFRunLoopRunInMode(.defaultMode, .infinity, false) == .stopped)
            #expect(CFRunLoopTimerGetNextFireDate(timer) >= now + 500)
            CFRunLoopTimerInvalidate(timer)
            #expect(!CFRunLoopTimerIsValid(timer) && !CFRunLoopContainsTimer(loop, timer, .defaultMode))
            CFRunLoopAddTimer(loop, once, .defaultMode)
            #expect(CFRunLoopRunInMode(.defaultMode, .infinity, false) == .stopped)
            #expect(trace.all == ["fired true", "once"] && !CFRunLoopTimerIsValid(once))
            CFRunLoopAddTimer(loop, nil, .defaultMode)
            #expect(!CFRunLoopTimerIsValid(nil) && CFRunLoopTimerGetNextFireDate(nil) == 0)
        }
    }

    @Test("R137 A timer fires first at its date, or one interval away")
    func firstDate() async throws {
        try await onThread {
            let date = Date() + 1000
            #expect(Timer(fire: date, interval: 5, repeats: true) { _ in }.fireDate == date)
            let before = Date()
            for repeats in [true, false] {
                let timer = Timer(timeInterval: 7, repeats: repeats) { _ in }
                #expect(timer.fireDate >= before + 7)
                #expect(timer.fireDate <= Date() + 7)
                #expect(timer.timeInterval == (repeats ? 7 : 0))
            }
            let trace = Trace()
            Timer.scheduledTimer(withTimeInterval: 0.005, repeats: false) { _ in trace.note("fired") }
            #expect(run { trace.all == ["fired"] })
            #expect(Date() >= before + 0.005)
        }
    }

    @Test(
        "R137 A repeating interval that is zero, negative or not a number becomes 0.1 ms",
        arguments: [0, -1, TimeInterval.nan])
    func leastInterval(interval: TimeInterval) async throws {
        try await onThread {
            let trace = Trace()
            let timer = Timer.scheduledTimer(withTimeInterval: interval, repeats: true) { timer in
                trace.note("tick")
                if trace.all.count == 3 { timer.invalidate() }
            }
            #expect(timer.timeInterval == 0.0001)
            #expect(run { !timer.isValid })
            #expect(trace.all.count == 3)
            let once = Timer(timeInterval: interval, repeats: false) { _ in trace.note("once") }
            #expect(once.timeInterval == 0)
        }
    }

    @Test("R137 Dates and intervals that no clock reaches neither trap nor fire")
    func beyondAllClocks() async throws {
        try await onThread {
            let loop = RunLoop.current
            let trace = Trace()
            let infinite = TimeInterval.infinity
            let never = [
                Date.distantFuture, Date() + infinite, Date(timeIntervalSinceReferenceDate: .nan), Date() + 1e300,
            ]
            for date in never {
                let timer = Timer(fire: date, interval: infinite, repeats: true) { _ in trace.note("never") }
                loop.add(timer, forMode: .default)
                #expect(timer.isValid)
                #expect(timer.fireDate == date || date.timeIntervalSinceReferenceDate.isNaN)
                timer.tolerance = infinite
            }
            #expect(loop.limitDate(forMode: .default) == .distantFuture)
            for date in [Date.distantPast, Date() - infinite, Date() - 1e300] {
                let timer = Timer(fire: date, interval: 0, repeats: false) { _ in trace.note("past") }
                #expect(timer.fireDate == date)
                loop.add(timer, forMode: .default)
            }
            #expect(loop.run(mode: .default, before: Date() - infinite))
            #expect(trace.all == ["past", "past", "past"])
            loop.add(Timer(timeInterval: 1e300, repeats: true) { _ in }, forMode: .default)
            loop.perform { [loop = Unguarded(object: loop)] in
                Timer.scheduledTimer(withTimeInterval: 0, repeats: false) { _ in loop.object.native.stop() }
            }
            #expect(loop.run(mode: .default, before: Date(timeIntervalSinceReferenceDate: .nan)))
        }
    }

    @Test("R138 Firing by hand calls the block and does not change the schedule")
    func byHand() async throws {
        try await onThread {
            let trace = Trace()
            let often = Timer(timeInterval: 1000, repeats: true) { timer in
                trace.note("often")
                if trace.all.count == 1 { timer.fire() }
            }
            let date = often.fireDate
            often.fire()
            #expect(trace.all == ["often", "often"])
            #expect(often.fireDate == date)
            often.invalidate()
            often.fire()
            let once = Timer(timeInterval: 1000, repeats: false) { trace.note("once \($0.isValid)") }
            once.fire()
            once.fire()
            #expect(!once.isValid)
            #expect(trace.all == ["often", "often", "once true"])
        }
    }

    @Test("R139 The fire date reads back as set; that of an invalid timer is when it last fired")
    func fireDates() async throws {
        try await onThread {
            let loop = RunLoop.current
            let timer = Timer(timeInterval: 1000, repeats: false) { _ in }
            loop.add(timer, forMode: .default)
            for date in [Date() + 500, .distantFuture, .distantPast, Date() + 700] {
                timer.fireDate = date
                #expect(timer.fireDate == date)
                #expect(timer.fireDate == date)
            }
            let last = Date() + 0.002
            timer.fireDate = last
            #expect(run { !timer.isValid })
            #expect(timer.fireDate == last)
            timer.fireDate = .distantFuture
            #expect(timer.fireDate == last)
            let unused = Timer(fire: last, interval: 0, repeats: false) { _ in }
            unused.invalidate()
            #expect(unused.fireDate == last)
            #expect(unused.userInfo == nil)
        }
    }

    @Test("R139 The last date set in a repeating timer's own block counts")
    func ownDate() async throws {
        try await onThread {
            let trace = Trace()
            let next = Date() + 1000
            let timer = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { timer in
                trace.note("fired")
                timer.fireDate = .distantPast
                timer.fireDate = next
            }
            #expect(run { !trace.all.isEmpty })
            #expect(timer.fireDate == next)
            timer.invalidate()
        }
    }

    @Test("R139 Tolerance is at most half the interval, never negative, and merges wake-ups")
    func tolerance() async throws {
        try await onThread {
            let often = Timer(timeInterval: 10, repeats: true) { _ in }
            #expect(often.tolerance == 0)
            let cases: [(TimeInterval, TimeInterval)] = [(3, 3), (30, 5), (-1, 0), (.nan, 0), (.infinity, 5)]
            for (set, read) in cases {
                often.tolerance = set
                #expect(often.tolerance == read)
            }
            let trace = Trace()
            let loop = RunLoop.current
            let start = Date()
            let wide = Timer(fire: start + 0.005, interval: 0, repeats: false) { _ in trace.note("wide") }
            wide.tolerance = 1000
            let exact = Timer(fire: start + 0.02, interval: 0, repeats: false) { _ in trace.note("exact") }
            loop.add(exact, forMode: .default)
            loop.add(wide, forMode: .default)
            #expect(loop.run(mode: .default, before: .distantFuture))
            #expect(trace.all == ["wide", "exact"])
            #expect(Date() >= start + 0.02)
        }
    }

    @Test("R140 A repeating timer does not drift: its dates stay on the schedule of the first")
    func schedule() async throws {
        try await onThread {
            let offsets = Trace()
            // The schedule starts at the first date if that is in the future when the timer is made. A busy machine may need a
            // second try.
            var first: Date
            var timer: Timer
            repeat {
                first = Date() + 0.002
                timer = Timer(fire: first, interval: 0.002, repeats: true) { [first] timer in
                    let steps = timer.fireDate.timeIntervalSince(first) / 0.002
                    offsets.note(abs(steps - steps.rounded()) < 0.001 ? "on" : "off by \(steps)")
                    if Date() < timer.fireDate - 1e-6 { offsets.note("early") }
                    if offsets.all.count == 10 { timer.invalidate() }
                }
            } while Date() >= first
            RunLoop.current.add(timer, forMode: .default)
            #expect(run { !timer.isValid })
            #expect(offsets.all == Array(repeating: "on", count: 10))
        }
    }

    @Test("R139 A timer is freed with its last reference, and its block when it is invalid, after the call")
    func lifetimes() async throws {
        try await onThread {
            let trace = Trace()
            func block(_ name: String) -> @Sendable (Timer) -> Void {
                let token = Token(name, trace)
                return { timer in
                    timer.invalidate()
                    trace.note("\(name) called")
                    token.touch()
                }
            }
            _ = Timer(timeInterval: 1000, repeats: true, block: block("unused"))
            #expect(trace.all == ["unused freed"])
            weak let kept = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true, block: block("kept"))
            #expect(kept != nil)
            #expect(run { trace.all.count == 3 })
            #expect(kept == nil)
            let held = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true, block: block("held"))
            held.invalidate()
            #expect(trace.all == ["unused freed", "kept called", "kept freed", "held freed"])
        }
    }

    @Test("A subclass is a timer too")
    func subclass() async throws {
        final class Named: Timer {
            override var userInfo: Any? { "its own" }
        }
        try await onThread {
            let trace = Trace()
            let timer = Named(timeInterval: 0.001, repeats: false) { trace.note("\($0.userInfo ?? "none")") }
            RunLoop.current.add(timer, forMode: .default)
            #expect(run { !timer.isValid })
            #expect(trace.all == ["its own"])
        }
    }
}
