public import RunLoopKit

extension RunLoop {
    /// Runs the iterations that have something to do, at most `times` of them, and never sleeps.
    ///
    ///     loop.perform { received = true }
    ///     loop.turn()
    ///     #expect(received)
    ///
    /// Each iteration is one of `run(mode:for: .zero)`, so it serves all signalled sources, all performed closures that match,
    /// and the due timers or one ready descriptor; observers are told its activities, `entry` and `exit` included, but not
    /// `beforeWaiting` and `afterWaiting`, since it does not wait. What is not due yet is not waited for: that is what
    /// `runUntil` is for.
    ///
    /// On the loop's own thread only: anything else is a precondition failure. Inside closures of the loop the iterations
    /// are nested. A source that signals itself, and a closure that performs itself again, always have something to do:
    /// `times` ends that.
    ///
    /// - Returns: how many iterations there were; fewer than `times` if nothing was left to do.
    @available(*, noasync, message: "Running a loop blocks its thread: use withRunLoop.")
    @discardableResult
    public func turn(times: Int = 1, mode: Mode = .default) -> Int {
        var turns = 0
        while turns < times && hasWork(inMode: mode) {
            run(mode: mode, for: .zero)
            turns += 1
        }
        return turns
    }
}
