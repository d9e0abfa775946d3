internal import RunLoopKit

/// Runs tasks on the first loop's thread, in any order that actors and awaits allow: of the jobs that are ready, the choices name the next.
/// Between two jobs the loop makes an iteration, so timers and descriptors come in between.
final class SimulatedTasks: TaskExecutor {
    private let schedule: Schedule
    private let loop: RunLoop
    private let ready = Guarded<[UnownedJob]>([])
    /// Performs one job at a time.
    private let source = Guarded<RunLoop.Source?>(nil)

    init(_ schedule: Schedule, on loop: RunLoop) throws(RunLoop.Error) {
        self.schedule = schedule
        self.loop = loop
        let source = RunLoop.Source { [unowned self] in runOne() }
        self.source.withLock { $0 = source }
        try loop.add(source, forMode: .common)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        ready.withLock { $0.append(job) }
        source.withLock { $0 }?.signal()
        loop.wakeUp()
    }

    private func runOne() {
        let (job, hasMore) = ready.withLock { ready -> (UnownedJob?, Bool) in
            if ready.isEmpty { return (nil, false) }
            let job = ready.remove(at: schedule.choices.choose(ready.count))
            return (job, !ready.isEmpty)
        }
        if hasMore { source.withLock { $0 }?.signal() }
        job?.runSynchronously(on: asUnownedTaskExecutor())
    }

    /// Nobody runs the jobs that are left.
    func end() {
        source.withLock { $0 }?.invalidate()
    }
}
