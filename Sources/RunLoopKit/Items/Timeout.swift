#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopOverlay

extension RunLoop {
    /// Calls its action once when some time has passed, on the thread of its loop, unless it is rescheduled or cancelled before.
    ///
    /// For something that rarely happens: a connection that stays silent, a request without an answer, a key that is held down.
    /// The value is the timeout: its owner postpones it with `reschedule(after:)`, and cancels it by destroying the value, or with
    /// `cancel()`.
    ///
    ///     private var idle: RunLoop.Timeout?
    ///     …
    ///     // A connection begins.
    ///     idle = RunLoop.Timeout(on: loop, after: .seconds(30)) { [self] in close() }
    ///     // Input has arrived.
    ///     idle?.reschedule(after: .seconds(30))
    ///     // The connection has ended.
    ///     idle = nil
    ///
    /// It is a small block of the core's and not an object. Swift allocates only what the closure captures, and nothing if that
    /// is a single object. So a program may have hundreds of thousands of timeouts. A ``Timer`` repeats, has an order, can be in
    /// several modes, and is retained by its loop.
    ///
    /// The closure is freed when the timeout is over: after the action has run, when it is cancelled, or when the loop's thread
    /// ends. If it is cancelled in its own action, it is freed after that (R88), so the action may replace its timeout with the next
    /// one. Any thread may reschedule and cancel it; neither waits for an action that runs on another thread (R119). A forked child
    /// never calls the action, and frees its own copy of the closure when it destroys the timeout (R123).
    ///
    /// `idle = nil` releases the captured objects during the assignment. If that frees an object whose `deinit` reads `idle`, Swift
    /// ends the program for overlapping access; `_ = idle.take()` releases them after it.
    public struct Timeout: ~Copyable, Sendable {
        private let timer: ClosureTimer

        /// Starts a timeout, which calls a closure once after a delay unless it is postponed or destroyed before. Any thread. Makes the
        /// mode if needed. A loop that sleeps in the mode is re-armed, not woken (R87). O(log timers) per mode.
        ///
        /// - Parameters:
        ///   - loop: on whose thread the action is called. If that thread has ended, or the loop was made before a fork and this is
        ///     the child, the timeout is over at once: the closure is freed and never called.
        ///   - delay: the action is not called before this has passed. It is due at once if `delay` is negative, and never if the
        ///     instant is more than 292 years after the clock's epoch.
        ///   - tolerance: how much later it may be called, to share a wake-up with something else. Negative is zero.
        ///   - mode: the mode in which the loop has to run, or all common ones, which costs O(log timers) in each, and a node for
        ///     the common modes.
        ///   - fileID, line: what reports call it.
        ///   - action: called on the loop's thread, with no lock held.
        @inlinable
        public init(
            on loop: RunLoop, after delay: Duration, tolerance: Duration = .zero, inMode mode: Mode = .common,
            fileID: StaticString = #fileID, line: UInt = #line, _ action: sending @escaping () -> Void
        ) {
            self = loop.timeout(
                after: Nanoseconds.of(delay), tolerance: Nanoseconds.of(tolerance), mode, fileID, line,
                consume action)
        }

        fileprivate init(_ timer: consuming ClosureTimer) {
            self.timer = timer
        }

        deinit {
            unsafe runloop_timer_invalidate(timer.core)
        }

        /// Moves it: the action is due when `delay` has passed from now, at once if it is negative, and never if the instant is too
        /// far for the clock. Any thread. No effect while the action runs, after which the timeout is over, or when it is over. A
        /// sleeping loop is re-armed, not woken (R87). O(log timers) per mode.
        @inlinable
        public func reschedule(after delay: Duration) { setDelay(Nanoseconds.of(delay)) }

        @usableFromInline
        func setDelay(_ nanoseconds: Int64) { unsafe runloop__timer_set_delay(timer.core, nanoseconds) }

        /// When the action is due, as it was set last; also while it runs. `nil` if the timeout is over, or if it will never be due.
        /// Any thread; an answer about another thread's loop may be out of date already. O(1).
        public var fireDate: Instant? { unsafe Instant(nanosecondCount: runloop_timer_get_fire_date(timer.core)) }

        /// Can the action still be called, or is it running? Any thread; an answer about another thread's loop may be out of date
        /// already. O(1).
        public var isValid: Bool { unsafe runloop_timer_is_valid(timer.core) }

        /// Cancels it, as destroying the value does: `defer { timeout.cancel() }`. No effect if the timeout is over. Any thread; does not
        /// wait for an action that runs on another thread (R119). O(log timers) per mode.
        public func cancel() { unsafe runloop_timer_invalidate(timer.core) }
    }

    /// A method and not an initializer, because a method borrows its loop, and an initializer would retain it.
    @usableFromInline
    func timeout(
        after delay: Int64, tolerance: Int64, _ mode: Mode, _ file: StaticString, _ line: UInt,
        _ action: sending @escaping () -> Void
    ) -> Timeout {
        let fireDate = unsafe Nanoseconds.fromNow(of: core, delay)
        let timer = ClosureTimer(fireDate: fireDate, tolerance: tolerance, consume action)
        unsafe runloop_timer_set_name(timer.core, file.text, UInt32(clamping: line))
        if unsafe !wasAdded(runloop_add_timer(core, timer.core, mode.name)) {
            unsafe runloop_timer_invalidate(timer.core)
        }
        return Timeout(timer)
    }
}
#endif
