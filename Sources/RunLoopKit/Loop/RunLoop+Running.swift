#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopOverlay

extension RunLoop {
    /// Why a run of a loop has returned. The values are those of CFRunLoopRunResult (R36).
    ///
    ///     switch loop.run(mode: .default, for: .seconds(10)) {
    ///     case .finished: print("the mode is empty")
    ///     case .stopped: print("somebody has called stop()")
    ///     case .timedOut: print("ten seconds have passed")
    ///     case .handledSource: print("cannot be: it was not asked for")
    ///     }
    public enum RunResult: Int32, Hashable, Sendable {
        /// Nothing can ever happen in the mode.
        case finished = 1
        /// It was stopped.
        case stopped = 2
        /// The limit was reached.
        case timedOut = 3
        /// A source was handled, and the caller had asked to return then. Of a pass: a source, a timer or the main queue was served.
        case handledSource = 4
    }

    /// Runs the default mode until it is stopped or finished (R27).
    ///
    /// On the loop's own thread only: anything else is a precondition failure. Runs nest to any depth (R26). The main loop's
    /// default mode is never finished (R24), so there a run returns only when it is stopped.
    @available(*, noasync, message: "Running a loop blocks its thread: call it in synchronous code on one of your own.")
    public func run() {
        checkThread()
        _ = runloop_run()
    }

    /// Runs the default mode until `deadline`, or until it is stopped or finished, for at least one iteration even if the
    /// deadline has passed (R31, R127). On the loop's own thread only: anything else is a precondition failure.
    ///
    /// Unlike in Foundation, `stop()` ends it.
    @available(*, noasync, message: "Running a loop blocks its thread: call it in synchronous code on one of your own.")
    @discardableResult
    public func run(until deadline: Instant) -> RunResult {
        run(mode: .default, until: deadline)
    }

    /// Runs one mode until `deadline` (`nil`: without limit), or until it is stopped or finished (R28 to R41).
    ///
    /// On the loop's own thread only: anything else is a precondition failure. Runs nest to any depth (R26). A deadline that
    /// has passed gives exactly one iteration, which never sleeps (R31). The deadline is checked when an iteration ends; it
    /// interrupts no closure (R34). A run in `.common`, in an unknown mode or in an empty one finishes at once, and notifies no
    /// observer (R22, R23, R28); in a debug build, a diagnostic names a mode to which nothing was ever added (R150). An iteration
    /// costs O(signalled sources + due timers + matching closures), and one system call.
    ///
    /// - Parameter returnAfterSourceHandled: also return at the end of an iteration that handled a source, or the main
    ///   dispatch queue. Timers and performed closures do not count (R38).
    @available(*, noasync, message: "Running a loop blocks its thread: call it in synchronous code on one of your own.")
    @discardableResult
    public func run(mode: Mode, until deadline: Instant? = nil, returnAfterSourceHandled: Bool = false) -> RunResult {
        let limit = deadline.map(Nanoseconds.until) ?? Nanoseconds.never
        return run(mode, limit: limit, returnAfterSourceHandled: returnAfterSourceHandled)
    }

    /// Runs one mode for `limit`, or until it is stopped or finished. A limit of zero or less gives exactly one iteration, which
    /// never sleeps (R31). A positive limit is never rounded down to zero. Otherwise the same as `run(mode:until:)`.
    @available(*, noasync, message: "Running a loop blocks its thread: call it in synchronous code on one of your own.")
    @discardableResult
    @inlinable
    @inline(__always)
    public func run(mode: Mode, for limit: Duration, returnAfterSourceHandled: Bool = false) -> RunResult {
        run(mode, limit: Nanoseconds.of(limit), returnAfterSourceHandled: returnAfterSourceHandled)
    }

    /// Makes one pass over what is ready: a run of one iteration that waits once, and then serves everything that is ready, each
    /// once (R151). For those that drive the loop from a loop of their own, that of a game, a simulation or an interpreter:
    ///
    ///     while !isDone {
    ///         loop.runPass(waitingAtMost: .milliseconds(5))
    ///         advance()
    ///     }
    ///
    /// An iteration of another run serves one descriptor (R43). What becomes ready during the pass waits for the next one. If closures
    /// or signalled sources have been performed, the pass does not wait. It is a run as any other: it may be nested, `stop()` ends its
    /// wait, observers are notified.
    ///
    /// On the loop's own thread only: anything else is a precondition failure. In `.common`, in an unknown mode or in an empty one
    /// it finishes at once, as any run. O(what is ready), and a system call.
    ///
    /// - Parameter limit: zero or less does not wait; `nil` is as long as it takes.
    /// - Returns: `handledSource` if a source, a timer or the main dispatch queue was served; else `stopped`, `finished`, or
    ///   `timedOut`: it has waited in vain, or for a wake-up or a performed closure.
    @available(*, noasync, message: "Running a loop blocks its thread: call it in synchronous code on one of your own.")
    @discardableResult
    public func runPass(mode: Mode = .default, waitingAtMost limit: Duration? = .zero) -> RunResult {
        checkThread()
        let limit = limit.map(Nanoseconds.of) ?? Nanoseconds.never
        return unsafe RunResult(rawValue: runloop_run_pass(mode.name, limit)) ?? .finished
    }

    /// A run that the core refuses, because the thread is ending or the loop was made before a fork, is finished.
    @usableFromInline
    func run(_ mode: Mode, limit: Int64, returnAfterSourceHandled: Bool = false) -> RunResult {
        checkThread()
        return unsafe RunResult(rawValue: runloop_run_in_mode(mode.name, limit, returnAfterSourceHandled)) ?? .finished
    }

    /// Fails unless the calling thread is the loop's.
    @inline(__always)
    func checkThread() {
        if unsafe !runloop__is_thread_loop(core) { checkThreadThatNeverAsked() }
    }

    /// The initial thread may run `main` before it has read `current`. The core does not count it as the loop's thread then, until
    /// `runloop_current` is called.
    @inline(never)
    private func checkThreadThatNeverAsked() {
        unsafe precondition(
            runloop_current() == core, "A run loop is run by its own thread; perform a closure on it instead.")
    }

    /// Would a run in the mode find something to do now, so that it would not sleep (R25)? That is a remembered stop, a
    /// signalled source, a performed closure, a due timer, a ready descriptor, and on the initial thread work of the main
    /// dispatch queue or the main actor.
    ///
    /// Consumes nothing and calls nothing. On the loop's own thread only: anything else is a precondition failure. It may be
    /// called inside closures of the loop, and then answers for a nested run; a `stop()` or `wakeUp()` of the current run does
    /// not count. `false` for `.common` and an unknown mode. O(signalled sources + matching closures), at most one system call
    /// unless very many descriptors are ready.
    @available(*, noasync, message: "Ask on the loop's own thread, from synchronous code.")
    public func hasWork(inMode mode: Mode = .default) -> Bool {
        checkThread()
        return unsafe runloop_has_work(mode.name)
    }

    /// Ends the innermost active run at the end of its iteration, and wakes it (R46). Several stops of a run are one. Any thread. O(1), one
    /// system call if the loop sleeps.
    ///
    /// A stop in a mode ends the current run in that mode, at the end of an iteration, or else the next one (R53). It is a flag of the
    /// mode, not a message to a run. So several before the end of that iteration end one run, and one that comes after its run has ended by
    /// itself ends the next run of the mode, after one iteration and however much later. To end one run and no other, give it a condition:
    /// `run(mode:until:deadline:)` checks a state of yours, which you set before you call `wakeUp()`. That works however often and however
    /// late you do it.
    ///
    /// - Parameters:
    ///   - mode: `nil` is the run that is active, whatever its mode. Otherwise a mode, which is made if needed, and not `.common`, which is a
    ///     precondition failure; ignored on a loop whose thread has ended; O(modes).
    ///   - remembered: without it and without a mode, nothing happens when no run is active (R47). Otherwise the stop is remembered until a run
    ///     of the loop ends because of it: for "start a thread, then stop its loop", where a plain stop is lost if the thread is slow. A stop in
    ///     a mode is remembered in any case.
    public func stop(inMode mode: Mode? = nil, remembered: Bool = false) {
        guard let mode else {
            if remembered { unsafe runloop_stop_latched(core) } else { unsafe runloop_stop(core) }
            return
        }
        precondition(mode != .common, "A run is stopped in one mode; the common modes are several.")
        if unsafe runloop_stop_mode(core, mode.name) == -ErrorNumber.outOfMemory { outOfMemory() }
    }

    /// Ends one sleep, or prevents the next one if the loop is about to sleep (R48 to R50). It has no effect when no run is active
    /// or the loop is past its wait; work that was prepared before the wake-up is found in any case. Any number of wake-ups
    /// before the sleep are one. Any thread, in a signal handler as well. O(1), one system call if the loop sleeps, none otherwise.
    public func wakeUp() { unsafe runloop_wake_up(core) }

    /// Are diagnostics written to standard error? Each is about a use that is allowed but probably not intended, and is written
    /// once per process, or once for each name of a mode and for each signal: work for the main dispatch queue or the main actor
    /// has waited longer than 250 ms because `RunLoop.main` runs inside such work, where it cannot serve it, or such work has kept
    /// the queue for a second (R109); a timer or a source is in a loop that nobody runs, a run is in a mode that the loop does not
    /// have (in debug builds), or a signal that is waited for is ignored (R150); a job keeps the main loop from everything else,
    /// with the executors of RunLoopKitMainActor or RunLoopKitSingleThread. On unless the environment has
    /// `RUNLOOP_DIAGNOSTICS=0`. Any thread. O(1).
    public static var writesDiagnostics: Bool {
        get { runloop_diagnostics_are_enabled() }
        set { runloop_set_diagnostics_enabled(newValue) }
    }
}
#endif
