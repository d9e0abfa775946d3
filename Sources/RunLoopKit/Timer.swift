extension RunLoop {
    /// Calls its action at an instant, once or repeatedly, on the thread of the loop to which it was added.
    ///
    /// A repeating timer keeps its grid: instants that pass while the loop is busy are skipped, never made up for, and the
    /// next one is on the grid again (R80). A timer can be in several modes of one loop, and fires once per instant, in
    /// whichever runs (R86). It is never re-entered by nested runs (R84).
    ///
    /// A loop keeps the timers it has. The action is freed when the timer becomes invalid, after its call if that is
    /// running (R88), or with the timer. It gets the timer as its argument and has no need to capture it.
    public final class Timer: Sendable {
        let core: TimerCore
        /// Until the timer is invalid: the core says when it is over, once, and never while it fires.
        @exclusivity(unchecked) private nonisolated(unsafe) var action: Action?

        /// What cannot be copied is borrowed: it is called without counting references.
        private struct Action: ~Copyable {
            let body: (Timer) -> Void
        }

        /// Makes a timer, in no loop yet.
        ///
        /// - Parameters:
        ///   - date: the first instant. In the past: due at once, and the grid starts there.
        ///   - interval: `nil` fires once and then becomes invalid. Otherwise the grid, greater than zero (anything else is a
        ///     precondition failure) and rounded up to whole nanoseconds.
        ///   - tolerance: how much later it may fire to share a wake-up with something else. Never earlier. Negative is
        ///     zero, and half the interval is the most.
        ///   - order: among timers due at the same instant, lower goes first; then as they joined the loop. Clamped to
        ///     32 bits.
        ///   - action: called on the loop's thread with this timer.
        @inlinable
        public convenience init(
            at date: Instant, every interval: Duration? = nil, tolerance: Duration = .zero, order: Int = 0,
            _ action: sending @escaping (Timer) -> Void
        ) {
            self.init(
                fireDate: Nanoseconds.of(date), interval: interval.map(Timer.checked) ?? 0,
                tolerance: Nanoseconds.of(tolerance), order: order, consume action)
        }

        /// Makes a timer that fires again and again, for the first time after one interval. Parameters as above.
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

        /// Makes a timer that fires once, not before `delay` has passed; at once if it is negative. Other parameters as above.
        @inlinable
        public convenience init(
            after delay: Duration, tolerance: Duration = .zero, order: Int = 0,
            _ action: sending @escaping (Timer) -> Void
        ) {
            self.init(
                fireDate: Nanoseconds.fromNow(Nanoseconds.of(delay)), interval: 0, tolerance: Nanoseconds.of(tolerance),
                order: order, consume action)
        }

        /// Makes a timer that fires again and again, for the first time when `delay` has passed: the grid starts there.
        /// Parameters as above.
        @inlinable
        public convenience init(
            after delay: Duration, every interval: Duration, tolerance: Duration = .zero, order: Int = 0,
            _ action: sending @escaping (Timer) -> Void
        ) {
            self.init(
                fireDate: Nanoseconds.fromNow(Nanoseconds.of(delay)), interval: Timer.checked(interval),
                tolerance: Nanoseconds.of(tolerance), order: order, consume action)
        }

        @usableFromInline
        init(
            fireDate: Int64, interval: Int64, tolerance: Int64, order: Int, isMainActors: Bool = false,
            _ action: sending @escaping (Timer) -> Void
        ) {
            core = TimerCore(
                fireDate: fireDate, interval: interval, tolerance: tolerance, order: Int32(clamping: order),
                isMainActors: isMainActors)
            self.action = Action(body: consume action)
            core.join(self)
        }

        @inlinable
        static func checked(_ interval: Duration) -> Int64 {
            let nanoseconds = Nanoseconds.of(interval)
            precondition(nanoseconds > 0, "A timer repeats at an interval greater than zero.")
            return nanoseconds
        }

        deinit {
            core.release()
        }

        /// Never called twice at a time: a timer is in one loop and not re-entered.
        @inline(__always)
        func fire() {
            switch action {
            case .some(let action): action.body(self)
            case .none: break
            }
        }

        func end() { _ = action.take() }

        /// The next due instant; while the action runs, the one for which it runs (R81). `nil` if it will never fire,
        /// because it is invalid or was set so.
        ///
        /// Setting it moves the timer, and its grid restarts there; `nil` parks the timer (R83). In its own action the last
        /// date set wins, if it repeats; a timer that fires once is invalid afterwards in any case (R82). From another
        /// thread a sleeping loop is re-armed, not woken. Ignored on an invalid timer; allowed in no loop. O(log timers) per
        /// mode.
        public var nextFireDate: Instant? {
            get { Instant(nanosecondCount: core.fireDate) }
            @inlinable set { setFireDate(newValue.map(Nanoseconds.of) ?? Nanoseconds.never) }
        }

        /// Moves the timer, so that it is due when `delay` has passed, and its grid restarts there (R83); at once if it is
        /// negative, never if it ends more than 292 years after the clock's epoch.
        ///
        /// `timer.nextFireDate = .now + delay`, at a third of the cost. (What fires once, if at all, is a ``Timeout``.) Any
        /// thread. In its own action the last date set wins, if it repeats (R82). A sleeping loop is re-armed, not woken. Ignored
        /// on an invalid timer; allowed in no loop. O(log timers) per mode.
        @inlinable
        public func reschedule(after delay: Duration) { setFireDate(Nanoseconds.fromNow(Nanoseconds.of(delay))) }

        @usableFromInline
        func setFireDate(_ nanoseconds: Int64) { core.setFireDate(nanoseconds) }

        /// The interval, `nil` for a timer that fires once. Also of an invalid timer (R112). O(1).
        public var interval: Duration? {
            let interval = core.interval
            return interval > 0 ? .nanoseconds(interval) : nil
        }

        /// How much later than its instants the timer may fire. Negative is zero; half the interval is the most, and what
        /// is read back. Setting is ignored on an invalid timer. O(1), setting O(log timers) per mode.
        public var tolerance: Duration {
            get { .nanoseconds(core.tolerance) }
            set { core.setTolerance(Nanoseconds.of(newValue)) }
        }

        /// Its place among timers due at the same instant, as created. Also of an invalid timer. O(1).
        public var order: Int { Int(core.order) }

        /// In the action: how many instants of the grid passed without a call and were not reported before, this one not
        /// counted (R80). Otherwise those of the last call. O(1).
        public var missedTicks: Int { Int(clamping: core.missed) }

        /// Can it still fire? A timer that fires once is valid during its action, and invalid afterwards (R85). O(1).
        public var isValid: Bool { core.isValid }

        /// Removes the timer everywhere, for ever, and frees its action, after its call if that is running (R88). Twice is
        /// once. Any thread; does not wait for an action that runs on another thread (R119). O(log timers) per mode.
        public func invalidate() { withExtendedLifetime(self) { core.invalidate() } }
    }

    /// Adds a timer to a mode, or to all common modes, now and later (R18). Any thread. Makes the mode if needed. Twice is
    /// once (R86). A loop that sleeps in the mode is re-armed, not woken (R87). O(log timers) per mode.
    ///
    /// A timer is in one loop at a time: it is a precondition failure if another one has it.
    ///
    /// - Returns: is the timer in the mode now? `false` if it is invalid, if the loop's thread has ended, or if the loop was
    ///   made before a fork and this is the child.
    @discardableResult
    public func add(_ timer: Timer, forMode mode: Mode) -> Bool {
        checkIsolation(timer.core.isMainActors)
        return didJoin(core.add(timer.core, mode.name))
    }

    /// Removes a timer from a mode, or from all common modes (R19, R20). It stays valid and may be added again. Nothing if
    /// it is not there. Any thread; in its own action too. O(log timers) per mode, O(modes).
    public func remove(_ timer: Timer, forMode mode: Mode) { core.remove(timer.core, mode.name) }

    /// Is the timer in the mode? For `.common`: is it one of the common items (R20)? O(1).
    public func contains(_ timer: Timer, inMode mode: Mode) -> Bool { core.contains(timer.core, mode.name) }

    /// What the addition of a timer or an observer came to.
    func didJoin(_ result: Int32) -> Bool {
        switch Error(result: result) {
        case _ where result == 0: return true
        case .outOfMemory: outOfMemory()
        case .inAnotherLoop: preconditionFailure(Error.inAnotherLoop.description)
        default: return false
        }
    }
}
