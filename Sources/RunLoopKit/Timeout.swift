extension RunLoop {
    /// Calls its action once when some time has passed, on the thread of its loop, unless it is put off or called off before.
    ///
    /// For what hardly ever happens: the end of patience with a connection, with a request, with a key that is held down. The value
    /// is the timeout. Who has it puts it off with `reschedule(after:)`, and calls it off by letting go of it.
    ///
    ///     private var idle: RunLoop.Timeout?
    ///     …
    ///     idle = RunLoop.Timeout(on: loop, after: .seconds(30)) { [self] in close() }   // patience begins
    ///     idle?.reschedule(after: .seconds(30))                                         // something came
    ///     idle = nil                                                                    // nothing is waited for any more
    ///
    /// It is a cache line of the core's, and no object: what its closure captures is all that Swift may have to allocate, and a
    /// closure that captures one object, and nothing else, captures it without. So there may be hundreds of thousands of timeouts. A
    /// ``Timer`` repeats, has an order, can be in several modes, and is kept by its loop.
    ///
    /// The closure is freed when the timeout is over: after the action ran, when it is called off, when the loop's thread ends. Called
    /// off in its own action, it is freed after that (R88), so the action may replace its timeout by the next one. Any thread may put
    /// it off and call it off; neither waits for an action that runs on another thread (R119). A forked child never calls it, and
    /// frees its own copy of the closure when it lets go of the timeout (R123).
    ///
    /// `idle = nil` frees what the closure captured while `idle` is being set, as assignments do. If that is the last reference to an
    /// object whose `deinit` looks at `idle`, Swift ends the program for it; `_ = idle.take()` frees it afterwards.
    public struct Timeout: ~Copyable, Sendable {
        private let core: TimerCore

        /// Begins to wait. Any thread. Makes the mode if needed. A loop that sleeps in the mode is re-armed, not woken (R87).
        /// O(log timers).
        ///
        /// - Parameters:
        ///   - loop: on whose thread the action is called. If that thread has ended, or the loop was made before a fork and this is
        ///     the child, the timeout is over at once: the closure is freed and never called.
        ///   - delay: not before this has passed; at once if it is negative, never if it ends more than 292 years after the
        ///     clock's epoch.
        ///   - tolerance: how much later, to share a wake-up with something else. Negative is zero.
        ///   - mode: in which mode the loop has to run, or in all common ones, which costs O(log timers) in each.
        ///   - action: called on the loop's thread, with no lock held.
        @inlinable
        public init(
            on loop: RunLoop, after delay: Duration, tolerance: Duration = .zero, inMode mode: Mode = .default,
            _ action: sending @escaping () -> Void
        ) {
            self = loop.timeout(
                at: Nanoseconds.fromNow(Nanoseconds.of(delay)), tolerance: Nanoseconds.of(tolerance), mode,
                consume action)
        }

        fileprivate init(_ core: TimerCore) {
            self.core = core
        }

        deinit {
            core.invalidate()
            core.release()
        }

        /// Puts it off, or brings it forward: the action is called when `delay` has passed from now; at once if it is negative,
        /// never if that is too far for the clock. Any thread. Too late while the action runs: a timeout is over after it. Without
        /// effect if it is over. A sleeping loop is re-armed, not woken (R87). O(log timers) per mode.
        @inlinable
        public func reschedule(after delay: Duration) { setFireDate(Nanoseconds.fromNow(Nanoseconds.of(delay))) }

        @usableFromInline
        func setFireDate(_ nanoseconds: Int64) { core.setFireDate(nanoseconds) }

        /// When the action is due, as it was set last; also while it runs. `nil` if the timeout is over, or further away than the
        /// clock counts. Any thread; an answer about another thread's loop may be old when it arrives. O(1).
        public var fireDate: Instant? { Instant(nanosecondCount: core.fireDate) }

        /// Can the action still be called, or does it run? Any thread, as above. O(1).
        public var isValid: Bool { core.isValid }

        /// Calls it off, as letting go of it does, and ends the value. Nothing if the timeout is over. Any thread; does not wait for
        /// an action that runs on another thread (R119). O(log timers) per mode.
        public consuming func cancel() {}
    }

    /// A method, because a method borrows its loop, and an initializer owns it: that would count references.
    @usableFromInline
    func timeout(
        at fireDate: Int64, tolerance: Int64, _ mode: Mode, _ action: sending @escaping () -> Void
    ) -> Timeout {
        let timer = TimerCore(fireDate: fireDate, tolerance: tolerance, consume action)
        if !didJoin(core.add(timer, mode.name)) { timer.invalidate() }
        return Timeout(timer)
    }
}
