/// The run loop of a thread: it sleeps until something happens and then calls the closure that waits for it.
///
/// Every thread has at most one loop, made when the thread first asks for `current`. A loop does nothing by itself: its
/// thread calls one of the `run` methods, and the loop serves timers, sources, performed closures and observers of one
/// mode for as long as that call lasts.
///
/// Any thread may use a `RunLoop`, except for the `run` methods, which belong to the loop's own thread. Closures are
/// called on the loop's thread, with no lock held: they may make any call, nested runs included.
///
/// On Linux an `async` `main` gives the initial thread away to the dispatch library. A program that wants to run
/// `RunLoop.main` has a synchronous `main`; inside `RunLoop.main.run()` the main dispatch queue and the main actor are
/// served. Or it keeps its `async` `main`, and begins it with `RunLoop.takeOverAsyncMain()` of the product
/// RunLoopKitAsyncMain.
///
/// "Rule" numbers (R1, R36, …) refer to docs/RULES.md.
public final class RunLoop: Sendable {
    /// An instant, of a clock that stands still while the machine is suspended (CLOCK_MONOTONIC).
    public typealias Instant = Clock.Instant

    let core: LoopCore
    let keyed = KeyedRegistrations()
    let executors: LoopExecutors
    let end = EndOfLoop()

    /// The calling thread's loop, made at the first call. The same object each time (R1, R4).
    ///
    /// The object lives at least as long as its thread; kept longer, it is a loop on which nothing ever runs (R10). A
    /// program that has run out of descriptors or memory, or a thread that is already past the end of its loop, cannot
    /// have one: that is a precondition failure. O(1).
    @available(*, noasync, message: "A task may continue on another thread, whose loop is another one.")
    public static var current: RunLoop {
        if let loop = currentObject { return loop }
        guard let core = LoopCore.current else {
            preconditionFailure("This thread has no run loop: descriptors or memory ran out, or the thread is ending.")
        }
        return object(of: core)
    }

    /// The loop of the initial thread, from any thread, also before that thread asked for it (R2). The same object each
    /// time, and equal to `current` there. O(1).
    public static var main: RunLoop {
        guard let core = LoopCore.main else {
            preconditionFailure("The main run loop cannot be made: descriptors or memory ran out.")
        }
        return object(of: core)
    }

    init(retaining core: LoopCore) {
        core.retain()
        self.core = core
        executors = LoopExecutors(core)
    }

    deinit {
        core.release()
    }

    /// Is this the calling thread's loop? O(1), no system call.
    public var isCurrent: Bool { core.isCurrent }

    /// Is the loop asleep, or about to fall asleep (R52)? An answer about another thread may be old when it arrives. O(1).
    public var isWaiting: Bool { core.isWaiting }

    /// Would the innermost active run sleep, if it came to its wait now (R148)? For observers of `beforeWaiting` that have work
    /// which can wait until there is nothing else to do: they are told also when the look before the sleep will find something.
    /// `false` outside runs, in a run that polls, and on another thread. O(1) plus closures performed since the last question,
    /// and a system call in a mode with descriptors.
    public var isIdle: Bool { core.isIdle }

    /// The mode of the innermost active run, `nil` when no run is active (R5). O(1).
    public var currentMode: Mode? { core.currentMode.map(Mode.init(name:)) }

    /// The earliest fire date of the timers in a mode, that of a timer which fires right now included (R90). `nil` if the
    /// mode has no timer that will ever fire, is unknown, or is `.common`. O(1).
    public func nextFireDate(inMode mode: Mode) -> Instant? {
        Instant(nanosecondCount: core.nextFireDate(mode.name))
    }

    /// How many sleeps and wakes the tolerance of timers has spared this loop so far. O(1).
    public var wakeUpsSaved: Int { Int(clamping: core.wakeUpsSaved) }
}

extension RunLoop: Hashable {
    /// Are these the same loop? O(1).
    public static func == (a: RunLoop, b: RunLoop) -> Bool { a.core == b.core }

    /// Hashes the loop's identity. O(1).
    public func hash(into hasher: inout Hasher) { hasher.combine(core) }
}

extension RunLoop: CustomStringConvertible {
    /// A readable account of the loop: modes, items, order, validity, fire dates, signals. For people and logs: its form
    /// may change. O(items).
    public var description: String { core.copiedDescription ?? "RunLoop" }
}
