extension RunLoop {
    /// Runs one mode until a condition holds, at most until `deadline` (`nil`: however long that takes).
    ///
    ///     loop.run(until: .now + .seconds(5)) { isDone }
    ///     loop.run(mode: .paused, until: nil) { isResumed }
    ///
    /// The condition is asked on this thread: before the run, at the begin of each iteration, before each sleep, and at the
    /// end. When it holds, the iteration in which it was seen is the last one, and does not sleep. What makes it true is a
    /// closure of the loop, or another thread that wakes the loop afterwards (`wakeUp()`, `perform`): the loop does not poll.
    /// Runs that are nested in this one go on in any case, and may have conditions of their own; the condition may run the
    /// loop itself.
    ///
    /// On the loop's own thread only: anything else is a precondition failure. A deadline that has passed gives one iteration
    /// which never sleeps, unless the condition holds already. A stop, and a mode in which nothing can happen, end it as
    /// they end any run; `.common` is no mode and finishes at once. O(observers) once, and the condition twice an iteration.
    ///
    /// - Returns: did the condition hold when it was last asked? Once it has held, it is not asked again. Without a deadline
    ///   `false` means that the run was stopped, or that nothing can happen in the mode; a ``KeepAlive`` rules the latter out.
    @available(
        *, noasync,
        message: "Running a loop blocks its thread: call this from synchronous code on a thread of your own."
    )
    @discardableResult
    public func run(mode: Mode = .default, until deadline: Instant?, or condition: () -> Bool) -> Bool {
        core.checkThread()
        if condition() { return true }
        return withoutActuallyEscaping(condition) { condition in
            let watched = WatchedCondition(condition)
            let watch = Observer([.entry, .beforeTimers, .beforeWaiting, .exit], order: .max) { [core] _, activity in
                if watched.isReason(toStopAt: activity) { core.stop() }
            }
            if mode != .common { add(watch, forMode: mode) }
            let limit = deadline.map(Nanoseconds.until) ?? Nanoseconds.never
            _ = LoopCore.run(mode.name, limit: limit, returnAfterSourceHandled: false)
            watch.invalidate()
            return watched.askLast()
        }
    }
}

/// A condition for as long as the call lasts that was given it. Only the loop's thread touches it.
private final class WatchedCondition: @unchecked Sendable {
    private var condition: (() -> Bool)?
    /// How many runs in the mode there are, the watched one included.
    private var depth = 0
    private var hasHeld = false

    init(_ condition: @escaping () -> Bool) {
        self.condition = condition
    }

    func isReason(toStopAt activity: RunLoop.Observer.Activities) -> Bool {
        switch activity {
        case .entry: depth += 1
        case .exit: depth -= 1
        default: return depth == 1 && ask()
        }
        return false
    }

    func askLast() -> Bool {
        defer { condition = nil }
        return ask()
    }

    private func ask() -> Bool {
        if !hasHeld { hasHeld = condition?() ?? false }
        return hasHeld
    }
}
