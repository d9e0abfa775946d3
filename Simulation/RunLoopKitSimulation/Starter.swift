#if os(Linux)
internal import RunLoopKit

/// A task that the simulation's thread goes on with: what is started in it has the locals of the task that made this, as it would have there.
final class Starter: TaskExecutor {
    private let job = Guarded<UnownedJob?>(nil)
    private let work = Guarded<(@Sendable () -> Void)?>(nil)

    init() {
        // Its only job is here then.
        Task(executorPreference: self) { [work] in work.withLock { $0 }?() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.job.withLock { $0 = job }
    }

    func run(_ work: @escaping @Sendable () -> Void) {
        self.work.withLock { $0 = work }
        if let job = job.withLock({ $0 }) { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        self.work.withLock { $0 = nil }
    }
}
#endif
