import Glibc
import RunLoopKit
import Testing

@Suite struct TimerTests {
    @Test("A timer has the properties that it was made with")
    func asMade() {
        let date = RunLoop.Instant.now + .seconds(1000)
        let timer = RunLoop.Timer(at: date, every: .seconds(2), tolerance: .milliseconds(3), order: 4) { _ in }
        #expect(timer.nextFireDate == date)
        #expect(timer.interval == .seconds(2))
        #expect(timer.tolerance == .milliseconds(3))
        #expect(timer.order == 4)
        #expect(timer.missedTicks == 0)
        #expect(timer.isValid)
        let once = RunLoop.Timer(at: date, order: .max) { _ in }
        #expect(once.interval == nil)
        #expect(once.order == Int(Int32.max))
    }

    @Test("The first tick of a repeating timer is one interval away")
    func firstTick() {
        let before = RunLoop.Instant.now
        let timer = RunLoop.Timer(every: .seconds(100)) { _ in }
        #expect(timer.nextFireDate! >= before + .seconds(100))
        #expect(timer.nextFireDate! <= .now + .seconds(100))
    }

    @Test("R80 A repeating timer fires on its schedule, never early")
    func schedule() async throws {
        try await withRunLoopThread {
            let start = RunLoop.Instant.now
            let interval = Duration.milliseconds(3)
            let ticks = Count()
            let early = Count()
            let timer = RunLoop.Timer(at: start, every: interval) { timer in
                let tick = timer.nextFireDate!
                if .now < tick { early.increment() }
                let offset = (tick - start).components.attoseconds
                #expect(offset % interval.components.attoseconds == 0)
                ticks.increment()
                if ticks.value == 5 { timer.invalidate() }
            }
            try RunLoop.current.add(timer, forMode: .default)
            #expect(RunLoop.current.run(mode: .default) == .finished)
            #expect(ticks.value == 5)
            #expect(early.value == 0)
            #expect(!timer.isValid)
        }
    }

    @Test("R82 R83 A timer without a date fires once for each that it is given, until it is invalidated")
    func armedAgain() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let fires = Count()
            let timer = RunLoop.Timer(order: 3) { timer in
                fires.increment()
                if fires.value < 3 { timer.reschedule(after: .milliseconds(1)) }
            }
            #expect(timer.nextFireDate == nil && timer.interval == nil && timer.order == 3)
            try loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
            #expect(fires.value == 0)
            timer.nextFireDate = .now
            #expect(loop.run(until: { fires.value == 3 }))
            #expect(timer.isValid && timer.nextFireDate == nil)
            timer.reschedule(after: .zero)
            #expect(loop.run(until: { fires.value == 4 }))
            timer.nextFireDate = .now + .seconds(1000)
            timer.nextFireDate = nil
            #expect(timer.nextFireDate == nil && timer.isValid)
            timer.invalidate()
            #expect(loop.run(mode: .default) == .finished)
        }
    }

    @Test("R85 R112 A timer that fires once is valid in its action and invalid afterwards")
    func firesOnce() async throws {
        try await withRunLoopThread {
            let trace = Trace()
            let timer = RunLoop.Timer(after: .zero) { trace.note("\($0.isValid) \($0.nextFireDate != nil)") }
            try RunLoop.current.add(timer, forMode: .default)
            RunLoop.current.run()
            #expect(trace.all == ["true true"])
            #expect(!timer.isValid)
            #expect(timer.nextFireDate == nil)
            timer.nextFireDate = .now
            timer.tolerance = .seconds(1)
            #expect(timer.nextFireDate == nil)
            #expect(throws: RunLoop.Error.invalid) { try RunLoop.current.add(timer, forMode: .default) }
            #expect(!RunLoop.current.contains(timer, inMode: .default))
            timer.invalidate()
        }
    }

    @Test("The action gets the very object that was added")
    func sameObject() async throws {
        try await withRunLoopThread {
            let identities = Trace()
            let timer = RunLoop.Timer(after: .zero) { identities.note("\(ObjectIdentifier($0))") }
            let identity = "\(ObjectIdentifier(timer))"
            try RunLoop.current.add(timer, forMode: .default)
            RunLoop.current.run()
            #expect(identities.all == [identity])
        }
    }

    @Test("A loop retains a timer that its creator released")
    func releasedTimer() async throws {
        try await withRunLoopThread {
            let ticks = Trace()
            try RunLoop.current.add(
                RunLoop.Timer(at: .now, every: .microseconds(100)) { timer in
                    ticks.note("\(ObjectIdentifier(timer))")
                    if ticks.all.count == 3 { timer.invalidate() }
                }, forMode: .default)
            #expect(RunLoop.current.run(mode: .default) == .finished)
            #expect(ticks.all.count == 3)
            #expect(Set(ticks.all).count == 1)
        }
    }

    @Test("A timer that invalidates itself may be used to the end of its action")
    func removesItself() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let trace = Trace()
            do {
                let token = Token(freed)
                try RunLoop.current.add(
                    RunLoop.Timer(at: .now, every: .seconds(1)) { timer in
                        token.touch()
                        RunLoop.current.remove(timer, forMode: .default)
                        trace.note("\(timer.isValid) \(RunLoop.current.contains(timer, inMode: .default))")
                        timer.nextFireDate = nil
                    }, forMode: .default)
            }
            #expect(RunLoop.current.run(mode: .default) == .finished)
            #expect(trace.all == ["true false"])
            #expect(freed.value == 1)
        }
    }

    @Test("R80 Instants that pass during an action are counted, and skipped")
    func missedTicks() async throws {
        try await withRunLoopThread {
            let missed = Trace()
            let timer = RunLoop.Timer(at: .now, every: .milliseconds(1)) { timer in
                missed.note("\(timer.missedTicks)")
                if missed.all.count == 1 {
                    let end = RunLoop.Instant.now + .milliseconds(10)
                    while .now < end { usleep(500) }
                } else {
                    timer.invalidate()
                }
            }
            try RunLoop.current.add(timer, forMode: .default)
            RunLoop.current.run()
            #expect(missed.all.count == 2)
            #expect(Int(missed.all.last!)! >= 8)
            #expect(timer.missedTicks == Int(missed.all.last!)!)
        }
    }

    @Test("R82 R83 A timer can be moved, suspended and moved again")
    func moved() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let fired = Count()
            let timer = RunLoop.Timer(at: .now + .seconds(1000), every: .seconds(1000)) { timer in
                fired.increment()
                if fired.value == 2 { timer.invalidate() } else { timer.nextFireDate = .now }
            }
            try loop.add(timer, forMode: .default)
            timer.nextFireDate = nil
            #expect(timer.nextFireDate == nil)
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
            #expect(timer.isValid)
            let date = RunLoop.Instant.now + .milliseconds(2)
            timer.nextFireDate = date
            #expect(timer.nextFireDate == date)
            #expect(loop.run(mode: .default) == .finished)
            #expect(fired.value == 2)
            #expect(.now >= date)
        }
    }

    @Test("R82 R83 A timer can be rescheduled by a duration, in its action too")
    func rescheduled() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let early = Count()
            let fired = Count()
            let due = Handed<RunLoop.Instant>()
            let timer = RunLoop.Timer(after: .seconds(1000), every: .seconds(1000)) { timer in
                fired.increment()
                if fired.value == 1 {
                    due.put(.now + .milliseconds(2))
                    timer.reschedule(after: .milliseconds(2))
                } else {
                    if .now < due.take()! { early.increment() }
                    timer.invalidate()
                    timer.reschedule(after: .zero)
                }
            }
            try loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            let before = RunLoop.Instant.now
            timer.reschedule(after: .seconds(50))
            #expect(timer.nextFireDate! >= before + .seconds(50))
            #expect(timer.nextFireDate! <= .now + .seconds(50))
            timer.reschedule(after: .seconds(Int64.max))
            #expect(timer.nextFireDate == nil)
            timer.reschedule(after: .seconds(-1))
            #expect(timer.nextFireDate! < .now)
            #expect(loop.run(mode: .default) == .finished)
            #expect(fired.value == 2)
            #expect(early.value == 0)
            #expect(timer.nextFireDate == nil)
        }
    }

    @Test("The first delay of a repeating timer may differ from its interval")
    func firstTickApart() {
        let before = RunLoop.Instant.now
        let timer = RunLoop.Timer(after: .seconds(3), every: .seconds(100), tolerance: .seconds(1), order: 2) { _ in }
        #expect(timer.nextFireDate! >= before + .seconds(3))
        #expect(timer.nextFireDate! <= .now + .seconds(3))
        #expect(timer.interval == .seconds(100))
        #expect(timer.tolerance == .seconds(1))
        #expect(timer.order == 2)
    }

    @Test("A date set from another thread re-arms a sleeping loop")
    func movedFromElsewhere() async throws {
        try await withRunLoopThread {
            try withLoopElsewhere { loop in
                let fired = Handed<Bool>()
                let timer = RunLoop.Timer(at: .now + .seconds(1000)) { _ in fired.put(true) }
                try loop.add(timer, forMode: .default)
                #expect(waitUntil { loop.isWaiting })
                timer.nextFireDate = .now
                #expect(fired.take() == true)
            }
        }
    }

    @Test("R86 A timer in two modes fires in the one that runs")
    func twoModes() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            let timer = RunLoop.Timer(at: .now) { _ in trace.note(RunLoop.current.currentMode!.rawValue) }
            try loop.add(timer, forMode: "a")
            try loop.add(timer, forMode: "a")
            try loop.add(timer, forMode: "b")
            loop.remove(timer, forMode: "a")
            #expect(!loop.contains(timer, inMode: "a"))
            #expect(loop.contains(timer, inMode: "b"))
            #expect(loop.run(mode: "a", for: .zero) == .finished)
            #expect(loop.run(mode: "b", for: generous) == .finished)
            #expect(trace.all == ["b"])
        }
    }

    @Test("R86 A timer that was removed from its loop may be added to another one")
    func changesLoops() async throws {
        try await withRunLoopThread {
            try withLoopElsewhere { other in
                let fired = Handed<Bool>()
                let timer = RunLoop.Timer(at: .now) { _ in fired.put(other.isCurrent) }
                try RunLoop.current.add(timer, forMode: .default)
                RunLoop.current.remove(timer, forMode: .default)
                try other.add(timer, forMode: .default)
                #expect(fired.take() == true)
            }
        }
    }

    @Test("R86 A timer of another loop is refused")
    func inAnotherLoop() async throws {
        try await withRunLoopThread {
            try withLoopElsewhere { other in
                let timer = RunLoop.Timer(every: .seconds(1)) { _ in }
                try other.add(timer, forMode: .default)
                #expect(throws: RunLoop.Error.inAnotherLoop) { try RunLoop.current.add(timer, forMode: .default) }
                #expect(other.contains(timer, inMode: .default))
                timer.invalidate()
            }
        }
    }

    @Test("An interval that is not greater than zero is refused")
    func badInterval() async throws {
        await #expect(processExitsWith: .failure) { _ = RunLoop.Timer(every: .zero) { _ in } }
        await #expect(processExitsWith: .failure) { _ = RunLoop.Timer(at: .now, every: .seconds(-1)) { _ in } }
        await #expect(processExitsWith: .failure) { _ = RunLoop.Timer(after: .zero, every: .zero) { _ in } }
    }

    @Test("Tolerance is capped at half the interval and never negative")
    func tolerance() {
        let timer = RunLoop.Timer(every: .seconds(2), tolerance: .seconds(5)) { _ in }
        #expect(timer.tolerance == .seconds(1))
        timer.tolerance = .seconds(-1)
        #expect(timer.tolerance == .zero)
        timer.tolerance = .milliseconds(5)
        #expect(timer.tolerance == .milliseconds(5))
    }

    @Test("A tolerant timer shares the wake-up of another one, never early")
    func sharedWakeUp() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let early = Count()
            // On a busy machine the loop may come too late to sleep for both: one of several attempts shows it.
            for _ in 0..<30 {
                let wakeUps = Count()
                let observer = RunLoop.Observer(.afterWaiting) { _, _ in wakeUps.increment() }
                try loop.add(observer, forMode: .default)
                let start = RunLoop.Instant.now
                for delay in [5, 10] {
                    let date = start + .milliseconds(delay)
                    let tolerance = Duration.milliseconds(delay == 5 ? 500 : 0)
                    try loop.add(
                        RunLoop.Timer(at: date, tolerance: tolerance) { _ in if .now < date { early.increment() } },
                        forMode: .default)
                }
                #expect(loop.run(mode: .default) == .finished)
                observer.invalidate()
                if wakeUps.value == 1 { return #expect(early.value == 0) }
            }
            Issue.record("Each timer had a wake-up of its own.")
        }
    }

    /// Around each number of whole nanoseconds, with some attoseconds more or less.
    @Test(
        "A duration becomes a number of nanoseconds, and a fraction is rounded up",
        arguments: [1, 2, 999_999_999, 1_000_000_000, 18_446_744_073, 18_446_744_074, Int64.max / 2, .max - 1, .max])
    func nanoseconds(count: Int64) {
        let timer = RunLoop.Timer(at: .now) { _ in }
        func converted(_ duration: Duration) -> Duration {
            timer.tolerance = duration
            return timer.tolerance
        }
        #expect(converted(.nanoseconds(count)) == .nanoseconds(count))
        let atto = Duration(secondsComponent: 0, attosecondsComponent: 1)
        #expect(converted(.nanoseconds(count) - atto) == .nanoseconds(count))
        #expect(converted(.nanoseconds(count - 1) + atto) == .nanoseconds(count))
        #expect(converted(.nanoseconds(count) + atto) == .nanoseconds(count < .max ? count + 1 : count))
        #expect(converted(.nanoseconds(-count)) == .zero)
        // A fraction below zero is rounded up to zero.
        #expect(converted(.zero - atto) == .zero)
        // Durations that do not fit, also where their lower half would.
        #expect(converted(.seconds(Int64.max)) == .nanoseconds(Int64.max))
        #expect(
            converted(.nanoseconds(count) + .nanoseconds(Int64.max) + .nanoseconds(Int64.max))
                == .nanoseconds(Int64.max))
        #expect(converted(.seconds(Int64.min)) == .zero)
    }

    @Test("Dates and intervals that are too large mean never, and fractions are rounded up")
    func saturation() {
        #expect(RunLoop.Timer(after: .seconds(Int64.max)) { _ in }.nextFireDate == nil)
        #expect(RunLoop.Timer(after: .seconds(Int64.min)) { _ in }.nextFireDate != nil)
        let tiny = Duration(secondsComponent: 0, attosecondsComponent: 1)
        #expect(RunLoop.Timer(every: tiny) { _ in }.interval == .nanoseconds(1))
        let fraction = Duration(secondsComponent: 1, attosecondsComponent: 1_000_000_001)
        #expect(RunLoop.Timer(every: fraction) { _ in }.interval == .seconds(1) + .nanoseconds(2))
        #expect(RunLoop.Timer(every: .seconds(Int64.max)) { _ in }.interval == nil)
    }

    @Test("Timers due at the same instant fire by their order")
    func orderOfTimers() async throws {
        try await withRunLoopThread {
            let trace = Trace()
            let date = RunLoop.Instant.now
            for (name, order) in [("c", 2), ("a", -1), ("d", 2), ("b", 0)] {
                try RunLoop.current.add(
                    RunLoop.Timer(at: date, order: order) { _ in trace.note(name) }, forMode: .default)
            }
            RunLoop.current.run()
            #expect(trace.all == ["a", "b", "c", "d"])
        }
    }
}
