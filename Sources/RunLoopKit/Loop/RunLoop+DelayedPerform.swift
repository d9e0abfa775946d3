#if os(Linux)
internal import CRunLoopCore

extension RunLoop {
    /// Calls `body` once on the loop's thread, not before `delay` has passed, when the loop runs in one of `modes`.
    ///
    ///     loop.perform(after: .milliseconds(300)) { advance() }
    ///
    /// It is a timer that fires once: at once if `delay` is negative, up to `tolerance` later to share a wake-up. It can't be taken back: what
    /// may be cancelled or postponed is a ``Timeout``, or a ``Timer`` if somebody else keeps it. Any thread. The closure is freed after its
    /// call, or when the loop's thread ends without having called it. A task that calls it on a loop that nobody has run a second later, as that
    /// of a thread of the task pool, is named on standard error; so is a block of a dispatch queue that calls it on its thread's loop. O(log timers) per mode.
    ///
    /// - Parameter modes: `nil` is `.common` alone: any common mode. With no modes the closure is never called, and freed at once.
    /// - Returns: `false` if the loop's thread has ended already, or the loop was made before a fork and this is the child, or there are no
    ///   modes: `body` is freed and never called.
    @discardableResult
    public func perform(
        after delay: Duration, tolerance: Duration = .zero, inModes modes: Set<Mode>? = nil,
        _ body: sending @escaping () -> Void
    ) -> Bool {
        let fireDate = unsafe Nanoseconds.fromNow(of: core, Nanoseconds.of(delay))
        let timer = ClosureTimer(fireDate: fireDate, tolerance: Nanoseconds.of(tolerance), body)
        var isAccepted = false
        for mode in modes ?? Self.commonModes where unsafe wasAdded(runloop_add_timer(core, timer.core, mode.name)) {
            isAccepted = true
        }
        if !isAccepted { unsafe runloop_timer_invalidate(timer.core) }
        // It is there still, if the loop has not run by then.
        if isAccepted && mayNeverRun { awaitFirstRun(of: "a delayed closure") { true } }
        return isAccepted
    }
}
#endif
