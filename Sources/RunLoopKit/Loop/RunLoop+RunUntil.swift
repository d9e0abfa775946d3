#if os(Linux)
extension RunLoop {
    /// Runs one mode until a condition holds, at most until `deadline` (`nil`: without limit).
    ///
    ///     loop.run(until: { isDone }, deadline: .now + .seconds(5))
    ///     loop.run(mode: .paused, until: { isResumed })
    ///
    /// The condition is checked on this thread: before the run, at the beginning of each iteration, before each sleep, and at the
    /// end. The iteration in which it is found to hold is the last one, and does not sleep. A closure of the loop makes it true,
    /// or another thread which wakes the loop afterwards (`wakeUp()`, `perform`): the loop does not poll. The condition does not
    /// end runs that are nested in this one; they may have conditions of their own. The condition may run the loop itself.
    ///
    /// On the loop's own thread only: anything else is a precondition failure. A deadline that has passed gives one iteration
    /// which never sleeps, unless the condition holds already. A stop and an empty mode end this run as they end any run;
    /// `.common` is not a mode, so a run in it finishes at once. O(observers) once, and the condition twice an iteration.
    ///
    /// - Returns: did the condition hold when it was last checked? Once it has held, it is not checked again. Without a deadline
    ///   `false` means that the run was stopped, or that the mode was empty; a ``KeepAlive`` rules the latter out.
    @available(*, noasync, message: "Running a loop blocks its thread: call it in synchronous code on one of your own.")
    @discardableResult
    public func run(mode: Mode = .default, until condition: () -> Bool, deadline: Instant? = nil) -> Bool {
        checkThread()
        if condition() { return true }
        return withoutActuallyEscaping(condition) { condition in
            let watched = WatchedCondition(condition)
            let watch = Observer([.entry, .beforeTimers, .beforeWaiting, .exit], order: .max) { _, activity in
                if watched.endsRun(at: activity) { self.stop() }
            }
            if mode != .common { addUnlessOver(watch, forMode: mode) }
            let limit = deadline.map(Nanoseconds.until) ?? Nanoseconds.never
            _ = run(mode, limit: limit)
            watch.invalidate()
            return watched.checkLast()
        }
    }
}

/// The condition of a run, and what is known of it. Used by the loop's thread only, until the run has ended.
private final class WatchedCondition: @unchecked Sendable {
    private var condition: (() -> Bool)?
    /// How many runs in the mode are active, this one included.
    private var depth = 0
    private var hasHeld = false

    init(_ condition: @escaping () -> Bool) {
        self.condition = condition
    }

    func endsRun(at activity: RunLoop.Observer.Activities) -> Bool {
        switch activity {
        case .entry: depth += 1
        case .exit: depth -= 1
        default: return depth == 1 && check()
        }
        return false
    }

    func checkLast() -> Bool {
        defer { condition = nil }
        return check()
    }

    private func check() -> Bool {
        if !hasHeld { hasHeld = condition?() ?? false }
        return hasHeld
    }
}
#endif
