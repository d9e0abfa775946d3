#if os(Linux)
public import RunLoopKit

extension RunLoop {
    /// Runs at most `times` iterations, stops early when nothing is left to do, and never sleeps.
    ///
    ///     loop.perform { print("performed") }
    ///     #expect(loop.iterate() == 1)
    ///
    /// Each iteration is a run like `run(mode:for: .zero)`. It serves all signalled sources, all performed closures that match,
    /// and the due timers or one ready descriptor. Observers are notified of its activities, `entry` and `exit` included, but not
    /// of `beforeWaiting` and `afterWaiting`, since it does not wait. It does not wait for what is not due yet either: use
    /// `runUntil` for that.
    ///
    /// On the loop's own thread only, and in one mode, not in `.common`: anything else is a precondition failure. Inside closures of the loop
    /// the iterations are nested. A source that signals itself, and a closure that performs itself again, always have something to do:
    /// `times` bounds that.
    ///
    /// - Returns: the number of iterations, which is less than `times` if nothing was left to do.
    @available(*, noasync, message: "Running a loop blocks its thread: use withRunLoop.")
    @discardableResult
    public func iterate(times: Int = 1, mode: Mode = .default) -> Int {
        mode.checkIsOne()
        var iterations = 0
        while iterations < times && hasWork(inMode: mode) {
            run(mode: mode, for: .zero)
            iterations += 1
        }
        return iterations
    }
}

extension RunLoop.Mode {
    func checkIsOne() { precondition(self != .common, "A loop runs in one mode; the common modes are several.") }
}
#endif
