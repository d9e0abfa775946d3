#if os(Linux)
internal import CRunLoopCore

// Rule numbers (R1, R36, …) refer to docs/RULES.md. The pages of the documentation leave them out.

/// The run loop of a thread: it waits for sources and timers, and calls what is ready, one thing at a time. It sleeps until something
/// happens, and then calls the closure that was registered for it.
///
///     let loop = RunLoop.current
///     let timer = RunLoop.Timer(every: .seconds(1)) { _ in print("tick") }
///     try loop.add(timer, forMode: .common)
///     loop.perform(after: .seconds(10)) { loop.stop() }
///     loop.run()
///
/// Every thread has at most one loop, which is made when the thread first reads `current`. A loop does nothing by itself: its
/// thread calls one of the `run` methods, and for as long as that call lasts the loop serves the timers, sources, performed
/// closures and observers of one mode.
///
/// Any thread may use a `RunLoop`, except for the `run` methods, which the loop's own thread must call. Closures are
/// called on the loop's thread, with no lock held. They may make any call, nested runs included.
///
/// On Linux an `async` `main` gives the initial thread away to the dispatch library. A program that runs `RunLoop.main` has a
/// synchronous `main`; `RunLoop.main.run()` then serves the main dispatch queue and the main actor as well. A program with an
/// `async` `main` links the product RunLoopKitMainActor, or RunLoopKitSingleThread to have all its tasks there.
@safe public final class RunLoop: Sendable {
    /// The `runloop *`, to which this object has a reference. Any thread may use it.
    @safe package nonisolated(unsafe) let core: OpaquePointer
    let executors: LoopExecutors
    package let end = EndOfLoop()
    package let inputBuffer = InputBuffer()
    /// The innermost one. Used on the loop's thread only.
    nonisolated(unsafe) var hostedRun: Unmanaged<HostedRun>?

    /// The calling thread's loop, made by the first call. The same object each time (R1, R4).
    ///
    /// The object lives at least as long as its thread. If it is kept longer, it is a loop on which nothing ever runs (R10). It
    /// is a precondition failure if the process has run out of descriptors or memory, or if the thread is ending and its loop
    /// has been freed. O(1).
    @available(*, noasync, message: "A task may continue on another thread, whose loop is another one.")
    public static var current: RunLoop {
        if let loop = currentObject { return loop }
        guard let core = unsafe runloop_current() else {
            preconditionFailure("This thread has no run loop: descriptors or memory ran out, or the thread is ending.")
        }
        return unsafe object(of: core)
    }

    /// The loop of the initial thread, from any thread, even before that thread has read `current` (R2). The same object each
    /// time, and the same as `current` on that thread. O(1).
    public static var main: RunLoop {
        if let other = unsafe Hooks.mainLoop?() { return other }
        guard let core = unsafe runloop_main() else {
            preconditionFailure("The main run loop cannot be made: descriptors or memory ran out.")
        }
        return unsafe object(of: core)
    }

    /// The calling thread's loop. Throws why there is none.
    static func makeCurrent() throws(Error) -> RunLoop {
        while true {
            if let core = unsafe runloop_current() { return unsafe object(of: core) }
            let result = unsafe runloop_run_in_mode(RUNLOOP_DEFAULT_MODE, 0, false)
            // Otherwise there was enough of everything this time.
            if result < 0 { throw Error(result: result) }
        }
    }

    init(retaining core: OpaquePointer) {
        unsafe runloop_retain(core)
        self.core = unsafe core
        executors = unsafe LoopExecutors(core, end)
    }

    deinit {
        unsafe runloop_release(core)
    }

    /// Is this the calling thread's loop? O(1), no system call.
    public var isCurrent: Bool { unsafe runloop_is_current(core) }

    /// Is the loop asleep, or about to fall asleep (R52)? An answer about another thread may be out of date already. O(1).
    public var isWaiting: Bool { unsafe runloop_is_waiting(core) }

    /// Must this thread, which has just signalled a source of the loop, wake it up for that?
    var needsWakeUp: Bool { unsafe runloop_needs_wake_up(core) }

    /// Would the innermost active run sleep, if it reached its wait now (R148)? For observers of `beforeWaiting` whose work
    /// can wait until the loop has nothing else to do: `beforeWaiting` is also notified when the check before the sleep is about
    /// to find something. `false` outside runs, in a run that polls, and on another thread. O(1) plus closures performed since
    /// the last query, and a system call in a mode with descriptors.
    public var isIdle: Bool { unsafe runloop_is_idle(core) }

    /// The mode of the innermost active run, `nil` when no run is active (R5). O(1).
    public var currentMode: Mode? { unsafe runloop_current_mode(core).map(Mode.init(name:)) }

    /// The earliest date of a mode: of its timers, including one whose action is running (R90), and of its sources' deadlines. `nil` if
    /// nothing in the mode will ever be due, if it does not exist, or is `.common`. O(1).
    public func nextFireDate(inMode mode: Mode) -> Instant? {
        unsafe Instant(nanosecondCount: runloop_next_fire_date(core, mode.name))
    }
}

extension RunLoop: Hashable {
    /// Are these the same loop? O(1).
    public static func == (a: RunLoop, b: RunLoop) -> Bool { a.core == b.core }

    /// Hashes the loop's identity. O(1).
    public func hash(into hasher: inout Hasher) { unsafe hasher.combine(core) }
}

extension RunLoop: CustomStringConvertible {
    /// A readable description of the loop: modes, items, order, validity, fire dates, signals. For people and logs; its form
    /// may change. O(items).
    public var description: String { unsafe takeString(runloop_copy_description(core)) ?? "RunLoop" }
}
#endif
