#if os(Linux)
internal import CRunLoopCore

extension RunLoop {
    /// Calls its action at an instant, once or repeatedly, on the thread of the loop to which it was added.
    ///
    ///     let timer = RunLoop.Timer(
    ///         every: .seconds(1), tolerance: .milliseconds(50)
    ///     ) { timer in
    ///         print("tick, and \(timer.missedTicks) were missed")
    ///     }
    ///     try loop.add(timer, forMode: .common)
    ///
    /// A repeating timer keeps its fire schedule: instants that pass while the loop is busy are skipped and not made up for, and
    /// the next one is on the schedule again (R80). A timer can be in several modes of one loop, and fires once per instant, in
    /// whichever of them runs (R86). Nested runs never call its action while it is running (R84).
    ///
    /// A loop retains its timers. The action is freed when the timer becomes invalid, after its call if that is running (R88), or
    /// with the timer. It gets the timer as its argument and need not capture it.
    ///
    /// Sendable because the action is called by the loop's thread alone, and freed when nobody calls it any more.
    public final class Timer: Item, @unchecked Sendable {
        /// `nil` once the timer is invalid: the core calls `end()` then, once, and never while the timer fires.
        @exclusivity(unchecked) private var action: Action?

        /// A value that cannot be copied is borrowed for a call, which counts no references.
        private struct Action: ~Copyable {
            let body: (Timer) -> Void
        }

        /// Makes a timer, in no loop yet.
        ///
        /// - Parameters:
        ///   - date: the first instant, where the fire schedule starts. A timer whose date is in the past is due at once.
        ///   - interval: `nil` fires once and then becomes invalid. Otherwise the time between two instants, greater than zero
        ///     (anything else is a precondition failure) and rounded up to whole nanoseconds.
        ///   - tolerance: how much later, never earlier, it may fire to share a wake-up with something else. Negative is zero,
        ///     and half the interval is the maximum.
        ///   - order: among timers due at the same instant, lower goes first; then in the order in which they were added to the
        ///     loop. Clamped to 32 bits.
        ///   - action: called on the loop's thread with this timer.
        @inlinable
        public convenience init(
            at date: Instant, every interval: Duration? = nil, tolerance: Duration = .zero, order: Int = 0,
            _ action: sending @escaping (Timer) -> Void
        ) {
            self.init(
                fireDate: date.nanoseconds, interval: interval.map(Timer.checked) ?? 0,
                tolerance: Nanoseconds.of(tolerance), order: order, consume action)
        }

        /// Makes a timer that fires again and again, for the first time after one interval. Parameters as for
        /// `init(at:every:tolerance:order:_:)`.
        @inlinable
        public convenience init(
            every interval: Duration, tolerance: Duration = .zero, order: Int = 0,
            _ action: sending @escaping (Timer) -> Void
        ) {
            let interval = Timer.checked(interval)
            self.init(
                fireDate: Nanoseconds.fromNow(interval), interval: interval, tolerance: Nanoseconds.of(tolerance),
                order: order, consume action)
        }

        /// Makes a timer whose first instant is when `delay` has passed; at once if it is negative. Other parameters
        /// as for `init(at:every:tolerance:order:_:)`.
        @inlinable
        public convenience init(
            after delay: Duration, every interval: Duration? = nil, tolerance: Duration = .zero, order: Int = 0,
            _ action: sending @escaping (Timer) -> Void
        ) {
            self.init(
                fireDate: Nanoseconds.fromNow(Nanoseconds.of(delay)), interval: interval.map(Timer.checked) ?? 0,
                tolerance: Nanoseconds.of(tolerance), order: order, consume action)
        }

        /// Makes a timer without a date, which fires once for each date that it is given, until it is invalidated: a timer that can be
        /// armed again.
        ///
        ///     let timer = RunLoop.Timer { _ in advance() }
        ///     try loop.add(timer, forMode: .common)
        ///     timer.reschedule(after: .milliseconds(50))
        ///
        /// In its action it may be given the next date; `nextFireDate = nil` takes the date back. It keeps its modes from being empty,
        /// armed or not. Parameters as for `init(at:every:tolerance:order:_:)`, and the tolerance has no maximum.
        @inlinable
        public convenience init(
            tolerance: Duration = .zero, order: Int = 0, _ action: sending @escaping (Timer) -> Void
        ) {
            self.init(
                fireDate: Nanoseconds.never, interval: Nanoseconds.never, tolerance: Nanoseconds.of(tolerance),
                order: order, consume action)
        }

        @usableFromInline
        package init(
            fireDate: Int64, interval: Int64, tolerance: Int64, order: Int,
            _ action: sending @escaping (Timer) -> Void
        ) {
            unsafe self.action = Action(body: consume action)
            let core = unsafe makeTimer(fireDate: fireDate, interval: interval, tolerance: tolerance, order: order)
            unsafe super.init(core, .timer)
            unsafe attachTimer(core, to: self)
        }

        @inlinable
        package static func checked(_ interval: Duration) -> Int64 {
            let nanoseconds = Nanoseconds.of(interval)
            precondition(nanoseconds > 0, "A timer repeats at an interval greater than zero.")
            return nanoseconds
        }

        deinit {
            unsafe runloop_timer_release(core)
        }

        /// Calls do not overlap: a timer is in one loop and does not fire inside its own action.
        @inline(__always)
        func fire() {
            switch unsafe action {
            case .some(let action): action.body(self)
            case .none: break
            }
        }

        func end() { _ = unsafe action.take() }

        /// When the timer is due next; while the action runs, the instant for which it runs (R81). `nil` if the timer will never fire,
        /// because it is invalid or because `nil` was set.
        ///
        /// Setting it moves the timer and restarts its schedule at that instant; `nil` suspends the timer (R83). If the action of
        /// a repeating timer sets dates, the last one counts; a timer that fires once is invalid afterwards in any case (R82). A
        /// sleeping loop of another thread is re-armed, not woken. Ignored on an invalid timer; allowed on a timer in no loop.
        /// O(log timers) per mode.
        public var nextFireDate: Instant? {
            get { unsafe Instant(nanosecondCount: runloop_timer_get_fire_date(core)) }
            @inlinable set { setFireDate(newValue?.nanoseconds ?? Nanoseconds.never) }
        }

        /// Moves the timer, so that it is due when `delay` has passed, and restarts its schedule there (R83). It is due at once if
        /// `delay` is negative, and never if the instant is more than 292 years after the clock's epoch.
        ///
        /// The same as `timer.nextFireDate = .now + delay`, at a third of the cost. (For something that happens once, if at all,
        /// use a ``Timeout``.) Any thread. If the action of a repeating timer moves it, the last date counts (R82). A sleeping loop
        /// is re-armed, not woken. Ignored on an invalid timer; allowed on a timer in no loop. O(log timers) per mode.
        @inlinable
        public func reschedule(after delay: Duration) { setFireDate(Nanoseconds.fromNow(Nanoseconds.of(delay))) }

        @usableFromInline
        func setFireDate(_ nanoseconds: Int64) { unsafe runloop_timer_set_fire_date(core, nanoseconds) }

        /// The interval, `nil` for a timer that fires once, or once for each date that it is given. Also of an invalid timer (R112). O(1).
        public var interval: Duration? {
            let interval = unsafe runloop_timer_get_interval(core)
            return interval > 0 && interval < Nanoseconds.never ? .nanoseconds(interval) : nil
        }

        /// How much later than its instants the timer may fire. A negative value is set as zero, and one above half the interval
        /// as half the interval. Setting is ignored on an invalid timer. O(1), setting O(log timers) per mode.
        public var tolerance: Duration {
            get { unsafe .nanoseconds(runloop_timer_get_tolerance(core)) }
            set { unsafe runloop_timer_set_tolerance(core, Nanoseconds.of(newValue)) }
        }

        /// How many ticks the timer has missed, to be asked in its action: how many instants of the schedule were skipped since the
        /// previous call (R80). Otherwise the number in the last call. O(1).
        public var missedTicks: Int { unsafe Int(clamping: runloop_timer_get_missed(core)) }
    }
}
#endif
