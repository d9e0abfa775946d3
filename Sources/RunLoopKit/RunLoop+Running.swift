extension RunLoop {
    /// Why a run ended. The values are those of CFRunLoopRunResult (R36).
    public enum RunResult: Int32, Hashable, Sendable {
        /// The mode has nothing that could ever happen.
        case finished = 1
        /// Somebody called one of the `stop` methods.
        case stopped = 2
        /// The limit has passed.
        case timedOut = 3
        /// A source was handled, and the caller asked to return then.
        case handledSource = 4
    }

    /// Runs the default mode until it is stopped or finished (R27).
    ///
    /// On the loop's own thread only: anything else is a precondition failure. Nests to any depth (R26). The main loop's
    /// default mode is never finished (R24), so there this returns only when stopped.
    @available(
        *, noasync,
        message: "Running a loop blocks its thread: call this from synchronous code on a thread of your own."
    )
    public func run() {
        core.checkThread()
        LoopCore.run()
    }

    /// Runs the default mode until `deadline`, or until it is stopped or finished; at least one iteration even if the
    /// deadline has passed (R31, R127). On the loop's own thread only: anything else is a precondition failure.
    ///
    /// Unlike in Foundation, `stop()` ends it.
    @available(
        *, noasync,
        message: "Running a loop blocks its thread: call this from synchronous code on a thread of your own."
    )
    @discardableResult
    public func run(until deadline: Instant) -> RunResult {
        run(mode: .default, until: deadline)
    }

    /// Runs one mode until `deadline` (`nil`: without limit), or until it is stopped or finished (R28 to R41).
    ///
    /// On the loop's own thread only: anything else is a precondition failure. Nests to any depth (R26). A deadline that
    /// has passed gives exactly one iteration, which never sleeps (R31). The deadline is looked at when an iteration ends,
    /// it interrupts no closure (R34). `.common`, an unknown mode and an empty one finish at once, and no observer is told
    /// (R22, R23, R28). An iteration costs O(signalled sources + due timers + matching closures), and one system call.
    ///
    /// - Parameter returnAfterSourceHandled: also return at the end of an iteration that handled a source, or the main
    ///   dispatch queue; timers and performed closures do not count (R38).
    @available(
        *, noasync,
        message: "Running a loop blocks its thread: call this from synchronous code on a thread of your own."
    )
    @discardableResult
    public func run(mode: Mode, until deadline: Instant? = nil, returnAfterSourceHandled: Bool = false) -> RunResult {
        core.checkThread()
        let limit = deadline.map(Nanoseconds.until) ?? Nanoseconds.never
        return LoopCore.run(mode.name, limit: limit, returnAfterSourceHandled: returnAfterSourceHandled)
    }

    /// Runs one mode for `limit`, or until it is stopped or finished. Zero or less gives exactly one iteration, which
    /// never sleeps (R31). A positive limit is never rounded down to zero. Everything else as for `run(mode:until:)`.
    @available(
        *, noasync,
        message: "Running a loop blocks its thread: call this from synchronous code on a thread of your own."
    )
    @discardableResult
    @inlinable
    @inline(__always)
    public func run(mode: Mode, for limit: Duration, returnAfterSourceHandled: Bool = false) -> RunResult {
        run(mode, limit: Nanoseconds.of(limit), returnAfterSourceHandled: returnAfterSourceHandled)
    }

    @usableFromInline
    func run(_ mode: Mode, limit: Int64, returnAfterSourceHandled: Bool) -> RunResult {
        if !core.isThreads { return runChecked(mode, limit: limit, returnAfterSourceHandled: returnAfterSourceHandled) }
        return LoopCore.run(mode.name, limit: limit, returnAfterSourceHandled: returnAfterSourceHandled)
    }

    /// Apart, so that a run whose thread is known keeps nothing across a call that it does not make.
    @inline(never)
    private func runChecked(_ mode: Mode, limit: Int64, returnAfterSourceHandled: Bool) -> RunResult {
        core.checkThread()
        return LoopCore.run(mode.name, limit: limit, returnAfterSourceHandled: returnAfterSourceHandled)
    }

    /// Would a run in the mode find something to do now, so that it would not sleep (R25)? A remembered stop, a signalled
    /// source, a performed closure, a due timer, a ready descriptor, and on the initial thread the main dispatch queue and
    /// the main actor.
    ///
    /// Takes nothing away and calls nothing. On the loop's own thread only: anything else is a precondition failure. Inside
    /// closures of the loop too, where it speaks of a run that would be nested; a `stop()` or `wakeUp()` of the run under way
    /// does not count. `false` for `.common` and an unknown mode. O(signalled sources + matching closures), at most one
    /// system call unless very many descriptors are ready.
    @available(*, noasync, message: "Ask on the loop's own thread, from synchronous code.")
    public func hasWork(inMode mode: Mode = .default) -> Bool {
        core.checkThread()
        return LoopCore.hasWork(mode.name)
    }

    /// Ends the innermost active run at the end of its iteration, and wakes it (R46). Not remembered when no run is active
    /// (R47): a stop that may come before the run is `stopCurrentOrNextRun()`. Twice is once. Any thread. O(1), one system
    /// call if the loop sleeps.
    public func stop() { core.stop() }

    /// Like `stop()`, but remembered until some run of the loop ends for it, however early it comes. For "start a thread,
    /// then stop its loop", where a plain stop would get lost if the thread is slow. Twice before it is used up is once.
    /// Any thread. O(1).
    public func stopCurrentOrNextRun() { core.stopLatched() }

    /// Ends the next iteration of the loop in `mode`, now or whenever that mode runs; remembered until then (R53). Makes
    /// the mode if needed. `.common` is not a mode: that is a precondition failure. Ignored on a loop whose thread has
    /// ended. Any thread. O(modes).
    ///
    /// What is remembered is a mark on the mode, not a message to a run. So several stops before that iteration end one run,
    /// not several; and one that comes after its run has ended by itself ends the next run of the mode, after one iteration
    /// and however much later. To end a certain run, and no other, give it a condition: `run(mode:until:or:)` asks for a state
    /// of yours, which you set, and then call `wakeUp()`. That pairs, however often and however late you do it.
    public func stop(inMode mode: Mode) {
        precondition(mode != .common, "A run is stopped in one mode; the common modes are several.")
        if case .outOfMemory = Error(result: core.stop(mode.name)) { outOfMemory() }
    }

    /// Ends one sleep, or spares the next if the loop is on its way to it (R48 to R50). Ignored, without trace, when no
    /// run is active or the loop is past its wait: what was set up before the wake-up is seen in any case. Any number of
    /// wake-ups before the sleep are one. Any thread. O(1), one system call if the loop sleeps, none otherwise.
    public func wakeUp() { core.wakeUp() }

    /// For how long the loop looks out for a wake-up before each sleep: zero, which is not at all, at first; a millisecond at most.
    /// For loops that wake one another at a high rate from different cores: a round trip then takes well under a
    /// microsecond, at the price of the processor's time. Look-outs in vain make themselves rare, so an idle loop soon just
    /// sleeps. A timer brought forward by another thread may be noticed by so much later. A negative duration, or a longer
    /// one, is a precondition failure. Zero on a loop that a forked child inherited. Any thread; the next sleep counts. O(1).
    public var lookOutLimit: Duration {
        get { Duration(nanosecondCount: core.spinLimit) }
        set {
            let isPossible = newValue >= .zero && newValue <= .milliseconds(1)
            precondition(isPossible, "A loop looks out for a millisecond at most, and not for a negative time.")
            core.setSpinLimit(Nanoseconds.of(newValue))
        }
    }

    /// Are notes to the developer written to standard error? Each is about use that is allowed but hardly meant, and is written
    /// once per process. There is one: work for the main dispatch queue or the main actor waits longer than 250 ms because
    /// `RunLoop.main` runs inside such work, where it cannot serve it (R109). On unless the environment has `RUNLOOP_NOTES=0`.
    /// Any thread. O(1).
    public static var writesNotes: Bool {
        get { LoopCore.notesAreEnabled }
        set { LoopCore.setNotesEnabled(newValue) }
    }
}
