internal import CRunLoopCore

extension RunLoop {
    /// Calls its action at an instant, once or repeatedly, on the thread of the loop to which it was added.
    ///
    /// A repeating timer keeps its fire schedule: instants that pass while the loop is busy are skipped and not made up for, and
    /// the next one is on the schedule again (R80). A timer can be in several modes of one loop, and fires once per instant, in
    /// whichever of them runs (R86). Nested runs never call its action while it is running (R84).
    ///
    /// A loop retains its timers. The action is freed when the timer becomes invalid, after its call if that is running (R88), or
    /// with the timer. It gets the timer as its argument and need not capture it.
    public final class Timer: Sendable {
        /// The `runloop_timer *`, to which this object has the only reference besides those of loops.
        nonisolated(unsafe) let core: OpaquePointer
        /// `nil` once the timer is invalid: the core calls `end()` then, once, and never while the timer fires.
        @exclusivity(unchecked) private nonisolated(unsafe) var action: Action?

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
                fireDate: Nanoseconds.of(date), interval: interval.map(Timer.checked) ?? 0,
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

        /// Makes a timer that fires once, not before `delay` has passed; at once if it is negative. Other parameters
        /// as for `init(at:every:tolerance:order:_:)`.
        @inlinable
        public convenience init(
            after delay: Duration, tolerance: Duration = .zero, order: Int = 0,
            _ action: sending @escaping (Timer) -> Void
        ) {
            self.init(
                fireDate: Nanoseconds.fromNow(Nanoseconds.of(delay)), interval: 0, tolerance: Nanoseconds.of(tolerance),
                order: order, consume action)
        }

        /// Makes a timer that fires again and again, for the first time when `delay` has passed, where the schedule starts.
        /// Other parameters as for `init(at:every:tolerance:order:_:)`.
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
        package init(
            fireDate: Int64, interval: Int64, tolerance: Int64, order: Int,
            _ action: sending @escaping (Timer) -> Void
        ) {
            core = makeTimer(fireDate: fireDate, interval: interval, tolerance: tolerance, order: order)
            self.action = Action(body: consume action)
            attachTimer(core, to: self)
        }

        @inlinable
        package static func checked(_ interval: Duration) -> Int64 {
            let nanoseconds = Nanoseconds.of(interval)
            precondition(nanoseconds > 0, "A timer repeats at an interval greater than zero.")
            return nanoseconds
        }

        deinit {
            runloop_timer_release(core)
        }

        /// Calls do not overlap: a timer is in one loop and does not fire inside its own action.
        @inline(__always)
        func fire() {
            switch action {
            case .some(let action): action.body(self)
            case .none: break
            }
        }

        func end() { _ = action.take() }

        /// The next due instant; while the action runs, the instant for which it runs (R81). `nil` if the timer will never fire,
        /// because it is invalid or because `nil` was set.
        ///
        /// Setting it moves the timer and restarts its schedule at that instant; `nil` suspends the timer (R83). If the action of
        /// a repeating timer sets dates, the last one counts; a timer that fires once is invalid afterwards in any case (R82). A
        /// sleeping loop of another thread is re-armed, not woken. Ignored on an invalid timer; allowed on a timer in no loop.
        /// O(log timers) per mode.
        public var nextFireDate: Instant? {
            get { Instant(nanosecondCount: runloop_timer_get_fire_date(core)) }
            @inlinable set { setFireDate(newValue.map(Nanoseconds.of) ?? Nanoseconds.never) }
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
        func setFireDate(_ nanoseconds: Int64) { runloop_timer_set_fire_date(core, nanoseconds) }

        /// The interval, `nil` for a timer that fires once. Also of an invalid timer (R112). O(1).
        public var interval: Duration? {
            let interval = runloop_timer_get_interval(core)
            return interval > 0 ? .nanoseconds(interval) : nil
        }

        /// How much later than its instants the timer may fire. A negative value is set as zero, and one above half the interval
        /// as half the interval. Setting is ignored on an invalid timer. O(1), setting O(log timers) per mode.
        public var tolerance: Duration {
            get { .nanoseconds(runloop_timer_get_tolerance(core)) }
            set { runloop_timer_set_tolerance(core, Nanoseconds.of(newValue)) }
        }

        /// Its position among timers due at the same instant, as created. Also of an invalid timer. O(1).
        public var order: Int { Int(runloop_timer_get_order(core)) }

        /// In the action: how many instants of the schedule were skipped since the previous call (R80). Otherwise the number in
        /// the last call. O(1).
        public var missedTicks: Int { Int(clamping: runloop_timer_get_missed(core)) }

        /// Can it still fire? A timer that fires once is valid during its action, and invalid afterwards (R85). O(1).
        public var isValid: Bool { runloop_timer_is_valid(core) }

        /// Removes the timer from all modes, for ever, and frees its action, after its call if that is running (R88). A second
        /// call has no effect. Any thread; does not wait for an action that runs on another thread (R119). O(log timers) per
        /// mode.
        public func invalidate() { withExtendedLifetime(self) { runloop_timer_invalidate(core) } }
    }

    /// Adds a timer to a mode, or to all common modes, present and future (R18). Any thread. Makes the mode if needed. No effect
    /// if the timer is there already (R86). A loop that sleeps in the mode is re-armed, not woken (R87). O(log timers) per mode.
    ///
    /// - Throws: `invalid` for an invalidated timer; `inAnotherLoop`, because a timer is in one loop at a time; `loopFinished`,
    ///   `inheritedAcrossFork`, `outOfMemory`. After an error the timer is where it was before.
    ///
    /// An item without a name is named by the place of the call (``Timer/name``).
    public func add(
        _ timer: Timer, forMode mode: Mode, fileID: StaticString = #fileID, line: UInt = #line
    ) throws(RunLoop.Error) {
        timer.setNameIfNone(fileID, line)
        let result = runloop_add_timer(core, timer.core, mode.name)
        if result < 0 { throw Error(result: result) }
        if mayNeverRun { awaitFirstRun { [weak timer] in timer.map { self.contains($0, inMode: mode) } ?? false } }
    }

    /// Removes a timer from a mode, or from all common modes (R19, R20). It stays valid and may be added again. No effect if
    /// it is not there. Any thread; in its own action too. O(log timers) per mode, O(modes).
    public func remove(_ timer: Timer, forMode mode: Mode) { runloop_remove_timer(core, timer.core, mode.name) }

    /// Is the timer in the mode? For `.common`: is it one of the common items (R20)? O(1).
    public func contains(_ timer: Timer, inMode mode: Mode) -> Bool {
        runloop_contains_timer(core, timer.core, mode.name)
    }

    /// Adds a timer of ours, which the caller does without where the loop is over. Memory that has run out ends the program.
    @discardableResult
    package func addUnlessOver(
        _ timer: Timer, forMode mode: Mode, fileID: StaticString = #fileID, line: UInt = #line
    ) -> Bool {
        timer.setNameIfNone(fileID, line)
        return wasAdded(runloop_add_timer(core, timer.core, mode.name))
    }

    /// Reads the core's answer to the addition of a timer or an observer of ours.
    func wasAdded(_ result: Int32) -> Bool {
        let error = Error(result: result)
        if error == .outOfMemory { outOfMemory() }
        precondition(error != .inAnotherLoop, error.description)
        return result == 0
    }
}
