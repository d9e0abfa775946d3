#if os(Linux)
internal import CRunLoopCore

/// An executor of a loop, of a subclass: the jobs that it has accepted and not begun, in order.
///
/// It posts itself, which runs a batch: the jobs that it finds, and those which they add, up to a limit, so that timers and descriptors get their
/// turn; if jobs are left then, they are posted again. A post may find no job. A run that is nested in a job or a performed
/// closure does not perform what was posted before the current drain began (R105). So when a run begins and there are jobs,
/// they are posted again.
///
/// Sendable because any thread may use the C loop and the names, and what changes is behind a lock.
@safe class JobQueue: PostedCall, @unchecked Sendable {
    /// The C loop, retained. Not its `RunLoop`, which retains its executors.
    @safe private let loop: OpaquePointer
    private let end: EndOfLoop
    /// Texts of the table of names, which are never freed.
    @safe private let modes: [UnsafePointer<CChar>?]
    private let state = Guarded(State())
    private let process = ForkGeneration()

    /// How many jobs a batch runs at most.
    private static let batchLimit = 256

    private struct State {
        var jobs = Fifo()
        /// A post will find the jobs that there are, if a batch does not take them before it.
        var isPosted = false
        var nestedRuns: RunLoop.Observer?
    }

    init(_ loop: OpaquePointer, _ end: EndOfLoop, modes: Set<RunLoop.Mode>) {
        unsafe runloop_retain(loop)
        self.loop = unsafe loop
        self.end = end
        self.modes = unsafe modes.map(unsafe \.name)
    }

    deinit {
        if !process.isOver { state.withLock { $0.nestedRuns }?.invalidate() }
        unsafe runloop_release(loop)
    }

    /// Is the calling thread the loop's?
    var isOnThread: Bool { unsafe runloop_is_current(loop) }

    /// Runs a job on the calling thread, which is the loop's.
    func run(_ job: UnownedJob) { preconditionFailure("An executor is of a subclass.") }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        precondition(!process.isOver, "A task needs an executor that was made before a fork, and this is the child.")
        // Once the job is in the queue, a batch that runs may take it. What comes of it may end the thread and release the last reference to
        // the executor, which the runtime does not retain, before this returns.
        let keeper = unsafe Unmanaged.passRetained(self)
        defer { unsafe keeper.release() }
        let (isFirst, isPosted) = state.withLock { state in
            state.jobs.append(job)
            defer { state.isPosted = true }
            return (state.nestedRuns == nil, state.isPosted)
        }
        if isFirst { watchNestedRuns() }
        if isPosted { return }
        let result = post()
        if result == 0 { return }
        let error = RunLoop.Error(result: result)
        if error == .outOfMemory { outOfMemory() }
        // The ending thread takes no posts any more, and runs the job when nothing else is left of the loop, unless a batch has run it.
        let isAccepted = end.notify { self.discard() } != nil || state.withLock { $0.jobs.count == 0 }
        precondition(isAccepted, "A task needs an executor whose thread has ended. \(error)")
    }

    private func watchNestedRuns() {
        let observer = RunLoop.Observer(.entry) { [weak self] _, _ in self?.postForNestedRun() }
        let isUsed = state.withLock { state in
            if state.nestedRuns != nil { return false }
            state.nestedRuns = observer
            return true
        }
        if !isUsed { return }
        for index in unsafe modes.indices
        where unsafe runloop_add_observer(loop, observer.core, modes[index]) == -ErrorNumber.outOfMemory {
            outOfMemory()
        }
    }

    private func post() -> Int32 { unsafe post(to: loop, modes, modes.count) }

    /// Runs the jobs that there are, and those which they add, up to the limit.
    override func run() {
        state.withLock { $0.isPosted = false }
        for _ in 0..<Self.batchLimit {
            guard let job = state.withLock({ $0.jobs.takeFirst() }) else { return }
            run(job)
            // A job may have forked, and the child returns from it. The other jobs are the parent's.
            if process.isOver { return }
        }
        postIfNeeded { $0.jobs.count > 0 && !$0.isPosted }
    }

    /// A run begins, which may not perform an earlier post: also that of a job which a batch took before it, since the next job relies on it.
    private func postForNestedRun() {
        postIfNeeded { $0.jobs.count > 0 || $0.isPosted }
    }

    /// On the thread, in a run: only memory can be missing.
    private func postIfNeeded(_ isNeeded: (State) -> Bool) {
        let isDue = state.withLock { state in
            let isDue = isNeeded(state)
            if isDue { state.isPosted = true }
            return isDue
        }
        if isDue && post() == -ErrorNumber.outOfMemory { outOfMemory() }
    }

    /// Runs the remaining jobs, and those which they add, because there will be no further run.
    override func discard() {
        while let job = takeRest() {
            pass(job)
            if process.isOver { return }
        }
    }

    /// A job that no run will run.
    func pass(_ job: UnownedJob) { run(job) }

    private func takeRest() -> UnownedJob? {
        state.withLock { state in
            let job = state.jobs.takeFirst()
            state.isPosted = job != nil
            return job
        }
    }
}

/// A ring of jobs. It allocates only when it has to grow.
private struct Fifo {
    private var slots: [UnownedJob?] = []
    private var first = 0
    private(set) var count = 0

    mutating func append(_ job: UnownedJob) {
        if count == slots.count { grow() }
        slots[(first + count) & (slots.count - 1)] = job
        count += 1
    }

    mutating func takeFirst() -> UnownedJob? {
        if count == 0 { return nil }
        let job = slots[first]
        slots[first] = nil
        first = (first + 1) & (slots.count - 1)
        count -= 1
        return job
    }

    /// The number of slots is a power of two.
    private mutating func grow() {
        let more = (0..<count).map { slots[(first + $0) & (slots.count - 1)] }
        slots = more + [UnownedJob?](repeating: nil, count: max(8, count))
        first = 0
    }
}
#endif
