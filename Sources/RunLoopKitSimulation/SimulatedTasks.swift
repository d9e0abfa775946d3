internal import RunLoopKit

/// The jobs of a simulation's tasks, which run on the first loop's thread, in any order that actors and awaits allow: of the jobs that are
/// ready, the choices name the next. Between two jobs the loop makes an iteration, so timers and descriptors come in between.
final class SimulatedTasks: TaskExecutor {
    /// On which of the program's executors a job runs.
    enum Executor: Sendable {
        case ofTasks, main, preferred
    }

    /// A task that is to go on.
    struct Job: @unchecked Sendable {
        let job: UnownedJob
        let executor: Executor
    }

    private struct State {
        var ready: [Job] = []
        /// Where the last steps before there are too many went on.
        var places: [CodePlace: Int] = [:]
        var hasEnded = false
    }

    /// So many of the last steps say who goes round.
    private static let told = 200

    private let schedule: Schedule
    private let loop: RunLoop
    private let state = Guarded(State())
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
        add(Job(job: UnownedJob(job), executor: .preferred))
    }

    /// Any thread. After the end of the simulation, nobody runs it any more.
    func add(_ job: Job) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.ready.append(job) }
            return state.hasEnded
        }
        if hasEnded { return }
        source.withLock { $0 }?.signal()
        loop.wakeUp()
    }

    /// The same, at an instant of the loop's.
    func add(_ job: Job, at instant: RunLoop.Instant) {
        if state.withLock({ $0.hasEnded }) { return }
        let timer = RunLoop.Timer(at: instant) { [unowned self] _ in add(job) }
        // The simulation's thread does not end before the simulation.
        try? loop.add(timer, forMode: .common)
    }

    private func runOne() {
        if !schedule.countStep() { return loop.stop(remembered: true) }
        let (job, hasMore) = state.withLock { state -> (Job?, Bool) in
            if state.ready.isEmpty { return (nil, false) }
            let job = state.ready.remove(at: schedule.choices.choose(state.ready.count))
            if schedule.steps > schedule.mostSteps - Self.told, let place = CodePlace(of: job.job) {
                state.places[place, default: 0] += 1
            }
            return (job, !state.ready.isEmpty)
        }
        if hasMore { source.withLock { $0 }?.signal() }
        guard let job else { return }
        switch job.executor {
        case .preferred: job.job.runSynchronously(on: asUnownedTaskExecutor())
        case .ofTasks, .main: run(job.job, onMainActor: job.executor == .main)
        }
    }

    /// The functions in which the last steps were, the most frequent first.
    var busiest: [String] {
        var counts: [String: Int] = [:]
        for (place, count) in state.withLock({ $0.places }) { counts["\(place)", default: 0] += count }
        return counts.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(3).map(\.key)
    }

    /// Nobody runs the jobs that are left: their tasks never end, and keep what they have.
    func end() {
        let left = state.withLock { state in
            state.hasEnded = true
            defer { state.ready = [] }
            return state.ready
        }
        abandoned.withLock { $0 += left }
        source.withLock { $0 }?.invalidate()
    }
}

/// The jobs of simulations that have ended before their tasks.
private let abandoned = Guarded<[SimulatedTasks.Job]>([])
