internal import CRunLoopCore

/// An executor of a loop. What is posted for its jobs is the executor itself.
protocol JobExecutor: AnyObject, Sendable {
    var jobs: JobQueue { get }

    /// Begins a job on the calling thread, which is the loop's.
    func run(_ job: UnownedJob)

    /// What a post of such an executor calls, in a run and at the end of the thread.
    static var callOuts: JobCallOuts { get }
}

struct JobCallOuts {
    fileprivate let inRun: runloop_function
    fileprivate let atEnd: runloop_function

    static let ofActors = JobCallOuts(
        inRun: { withPosted($0, RunLoop.ActorExecutor.self) { $0.jobs.runBatch(for: $0) } },
        atEnd: { withPosted($0, RunLoop.ActorExecutor.self) { $0.jobs.runRest(for: $0) } })

    static let ofTasks = JobCallOuts(
        inRun: { withPosted($0, RunLoop.PreferredExecutor.self) { $0.jobs.runBatch(for: $0) } },
        atEnd: { withPosted($0, RunLoop.PreferredExecutor.self) { $0.jobs.runRest(for: $0) } })
}

private func withPosted<Executor: AnyObject>(
    _ info: UnsafeMutableRawPointer?, _: Executor.Type, _ body: (Executor) -> Void
) {
    guard let info else { return }
    body(Unmanaged<Executor>.fromOpaque(info).takeRetainedValue())
}

/// The jobs that an executor was given and has not begun, in order.
///
/// A post runs all the jobs that it finds, so there is one for as many jobs as come before it, and a later one may find none. A
/// run that is nested in a job or a performed closure does not see what was posted before that one's round began (R105), so
/// when a run begins and there are jobs, there is a post for them again.
final class JobQueue: Sendable {
    let core: LoopCore
    private let modes: ModeNames
    private let state = Guarded(State())
    private let process = ForkGeneration()

    private struct State {
        var jobs = Fifo()
        /// A post is on its way that will find the jobs there are; only while there are some.
        var isPosted = false
        var nestedRuns: RunLoop.Observer?
        /// The thread is ending and runs what is left: it will run whatever is added, too.
        var isRunningRest = false
    }

    init(_ core: LoopCore, modes: Set<RunLoop.Mode>) {
        core.retain()
        self.core = core
        self.modes = ModeNames(modes)
    }

    deinit {
        if !process.isOver { state.withLock { $0.nestedRuns }?.invalidate() }
        core.release()
    }

    func add<Executor: JobExecutor>(_ job: UnownedJob, for executor: Executor) {
        precondition(!process.isOver, "A task needs an executor of the process before the fork.")
        let (isFirst, isPosted) = state.withLock { state in
            state.jobs.append(job)
            defer { state.isPosted = true }
            return (state.nestedRuns == nil, state.isPosted)
        }
        if isFirst { watchNestedRuns(for: executor) }
        if isPosted { return }
        let result = post(executor)
        if result == 0 { return }
        let error = RunLoop.Error(result: result)
        if error == .outOfMemory { outOfMemory() }
        if core.isCurrent { return runRest(for: executor) }
        // Either the ending thread has taken it meanwhile, or nobody ever will.
        let isLeft = state.withLock { $0.jobs.remove(job) }
        precondition(!isLeft, "A task needs an executor whose thread is gone. \(error)")
    }

    private func watchNestedRuns<Executor: JobExecutor>(for executor: Executor) {
        let observer = RunLoop.Observer(.entry) { [weak executor] _, _ in
            guard let executor else { return }
            let isNeeded = executor.jobs.state.withLock { state in
                if state.jobs.count > 0 { state.isPosted = true }
                return state.jobs.count > 0
            }
            if isNeeded { _ = executor.jobs.post(executor) }
        }
        let isMine = state.withLock { state in
            if state.nestedRuns != nil { return false }
            state.nestedRuns = observer
            return true
        }
        if !isMine { return }
        for mode in modes.all where core.add(observer.core, mode) == -ErrorNumber.outOfMemory { outOfMemory() }
    }

    private func post<Executor: JobExecutor>(_ executor: Executor) -> Int32 {
        core.post(modes, executor, Executor.callOuts.inRun, atEnd: Executor.callOuts.atEnd)
    }

    /// Runs the jobs there are now.
    fileprivate func runBatch<Executor: JobExecutor>(for executor: Executor) {
        var left = state.withLock { state in
            state.isPosted = false
            return state.jobs.count
        }
        while left > 0, let job = state.withLock({ $0.jobs.takeFirst() }) {
            left -= 1
            executor.run(job)
        }
    }

    /// Runs the jobs there are, and those which they add: no run will come to them any more.
    fileprivate func runRest<Executor: JobExecutor>(for executor: Executor) {
        let isInsideJob = state.withLock { state in
            defer { state.isRunningRest = true }
            return state.isRunningRest
        }
        // Then it goes on with the rest when the job has returned.
        if isInsideJob { return }
        while let job = takeRest() { executor.run(job) }
    }

    private func takeRest() -> UnownedJob? {
        state.withLock { state in
            let job = state.jobs.takeFirst()
            if job == nil {
                state.isRunningRest = false
                state.isPosted = false
            }
            return job
        }
    }
}

/// A ring of jobs that grows: once it is large enough, nothing is allocated.
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

    /// Takes one out of the middle: was it there?
    mutating func remove(_ job: UnownedJob) -> Bool {
        var isThere = false
        for _ in 0..<count {
            guard let other = takeFirst() else { break }
            if !isThere && other.isSame(as: job) { isThere = true } else { append(other) }
        }
        return isThere
    }

    /// The number of slots is a power of two.
    private mutating func grow() {
        let more = (0..<count).map { slots[(first + $0) & (slots.count - 1)] }
        slots = more + [UnownedJob?](repeating: nil, count: max(8, count))
        first = 0
    }
}

extension UnownedJob {
    /// A job is an object of the runtime, and its address is all that is known of it here.
    fileprivate func isSame(as other: UnownedJob) -> Bool {
        unsafeBitCast(self, to: UInt.self) == unsafeBitCast(other, to: UInt.self)
    }
}
