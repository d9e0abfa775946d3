#if os(Linux)
internal import CRunLoopSimulation
internal import RunLoopKit
internal import RunLoopKitTasks

/// The jobs of a simulation's tasks that wait for their turns, or for instants. Which of those that are ready is next, the choices say.
final class SimulatedTasks: TaskExecutor, @unchecked Sendable {
    /// On which of the program's executors a job runs.
    enum Executor: Sendable {
        case ofTasks, main
        case preferred(SimulatedTasks)
    }

    /// What a processor runs: a part of a task, or a call that would block a thread of its own.
    struct Job: @unchecked Sendable {
        private enum Work {
            case task(UnownedJob, Executor)
            case call(@Sendable () -> Void)
        }

        private let content: Work
        /// The task's, or 0.
        let number: UInt32
        /// A task of the runtime's, which wakes the one that sleeps.
        fileprivate(set) var isEndOfSleep = false
        /// An actor was woken meanwhile, perhaps for the task.
        var mayHaveSwitched = false

        init(_ job: UnownedJob, on executor: Executor) {
            content = .task(job, executor)
            number = TaskWords(job).number
        }

        init(_ call: @escaping @Sendable () -> Void) {
            (content, number) = (.call(call), 0)
        }

        /// None that a loop has.
        var id: Int { 1000 + Int(number) }
        var job: UnownedJob? { if case .task(let job, _) = content { job } else { nil } }
        var place: CodePlace? { job.flatMap { CodePlace(of: TaskWords($0)) } }
        var isMainActors: Bool { if case .task(_, .main) = content { true } else { false } }

        /// Of a job that is no task's, which has not run yet: "actor Pool".
        var name: String? {
            // Swift 6.3 crashes where it puts this into a caller.
            @inline(never) get {
                guard number == 0, let words = job.map({ TaskWords($0) }) else { return nil }
                return words.isEndOfYield ? Story.endOfYield : words.actor.map { "actor \(type(of: $0))" }
            }
        }

        /// What goes round, if it does: a function, or an actor. `nil` if it is a job of the runtime's.
        fileprivate var work: String? {
            if number == 0 { return name.flatMap { $0 == Story.endOfYield ? nil : $0 } }
            return isEndOfSleep ? nil : place?.full
        }

        func run() {
            switch content {
            case .task(let job, .preferred(let tasks)): unsafe job.runSynchronously(on: tasks.asUnownedTaskExecutor())
            case .task(let job, .ofTasks): runSynchronously(job, onMainActor: false)
            case .task(let job, .main): runSynchronously(job, onMainActor: true)
            case .call(let call): call()
            }
        }
    }

    /// A job of the runtime's that ends it, and the task that sleeps.
    private struct Sleep {
        let instant: Int64
        let job: Job
        let sleeper: UInt32
    }

    /// What became of a job that was added.
    private enum Addition {
        case added(asksMainLoop: Bool, cancelled: Job?)
        /// Its task is to go on already.
        case again
        case afterEnd
    }

    private struct State {
        var ready: [Job] = []
        /// In the order of their instants.
        var delayed: [Sleep] = []
        /// Where the last steps before there are too many went on.
        var places: [String: Int] = [:]
        var hasEnded = false
        /// The main loop is to run a job of the main actor, or does.
        var mainLoopIsAsked = false
        /// Of `delayed`.
        private var sleepers: Set<UInt32> = []

        mutating func add(_ sleep: Sleep) {
            // Later sleeps mostly end later.
            let index = delayed.lastIndex { $0.instant <= sleep.instant }.map { $0 + 1 } ?? 0
            delayed.insert(sleep, at: index)
            sleepers.insert(sleep.sleeper)
        }

        /// A task that is to go on is awaited by nobody who could resume it, unless that is a mistake.
        func isReady(_ task: UInt32) -> Bool {
            task != 0 && ready.contains { $0.number == task && !$0.isEndOfSleep }
        }

        /// A task that goes on before its sleep has ended was cancelled.
        mutating func removeSleep(of sleeper: UInt32) -> Job? {
            guard sleepers.remove(sleeper) != nil, let index = delayed.firstIndex(where: { $0.sleeper == sleeper })
            else { return nil }
            return delayed.remove(at: index).job
        }

        mutating func endSleeps(until now: Int64) {
            let ended = delayed.prefix { $0.instant <= now }
            for sleep in ended { sleepers.remove(sleep.sleeper) }
            ready += ended.map(\.job)
            delayed.removeFirst(ended.count)
        }
    }

    /// So many of the last steps say which task goes round.
    private static let lastSteps = 200

    unowned var schedule: Schedule!
    /// Those that have begun, and not ended.
    let known = KnownTasks()
    private let state = Guarded(State())
    private let mainActor = Guarded<RunLoop.Source?>(nil)
    private let loop = RunLoop.current

    func enqueue(_ job: consuming ExecutorJob) {
        add(Job(UnownedJob(job), on: .preferred(self)))
    }

    /// Any thread. After the end of the simulation, nobody runs it any more.
    func add(_ job: Job) {
        let addition = state.withLock { state -> Addition in
            if state.hasEnded { return .afterEnd }
            if state.isReady(job.number) { return .again }
            state.ready.append(job)
            let asks = job.isMainActors && !state.mainLoopIsAsked
            if asks { state.mainLoopIsAsked = true }
            return .added(asksMainLoop: asks, cancelled: state.removeSleep(of: job.number))
        }
        switch addition {
        case .afterEnd: return
        case .again: return schedule.noteSecondResume(of: job.number)
        case .added(let asks, let cancelled):
            if asks { askMainLoop() }
            // It frees what it has, and does nothing else.
            cancelled?.run()
        }
        if unsafe runloop_simulation_current() == nil { loop.wakeUp() } else { schedule.pause(afterResuming: job) }
    }

    /// The main actor's jobs are performed by a source of the main loop, as by the main queue's: in its common modes, also in a run inside a
    /// closure that the loop performs, but not in one inside another of those jobs.
    func serveMainActor() {
        let source = RunLoop.Source { [weak self] in self?.runMainActor() }
        loop.addUnlessOver(source, forMode: .common)
        mainActor.withLock { $0 = source }
    }

    private func askMainLoop() {
        let decides = runloop_simulation_enter()
        mainActor.withLock { $0 }?.signal(waking: loop)
        if decides { runloop_simulation_exit() }
    }

    private func runMainActor() {
        schedule.runMainActor()
        let isAsked = state.withLock { state in
            state.mainLoopIsAsked = state.ready.contains(where: \.isMainActors)
            return state.mainLoopIsAsked
        }
        if isAsked { askMainLoop() }
    }

    /// The same, at an instant.
    func add(_ job: Job, after delay: Duration) {
        var job = job
        job.isEndOfSleep = true
        let instant = Nanoseconds.sum(schedule.now, max(0, Nanoseconds.of(delay)))
        state.withLock { state in
            if state.hasEnded { return }
            state.add(Sleep(instant: instant, job: job, sleeper: TaskWords.numberOfCurrent))
        }
    }

    /// Those that sleep or are ready.
    var expected: Set<UInt32> {
        state.withLock { state in Set(state.delayed.map(\.sleeper)).union(state.ready.map(\.number)) }
    }

    var isEmpty: Bool { state.withLock { $0.ready.isEmpty } }
    var firstInstant: Int64 { state.withLock { $0.delayed.first?.instant ?? .max } }

    func visit(_ body: (Int, Job) -> Void) {
        for (index, job) in state.withLock({ $0.ready }).enumerated() { body(index, job) }
    }

    /// Those whose time has come.
    func wake(until now: Int64) {
        state.withLock { $0.endSleeps(until: now) }
    }

    func take(at index: Int, step: Int, of mostSteps: Int) -> Job {
        state.withLock { state in
            let job = state.ready.remove(at: index)
            if step > mostSteps - Self.lastSteps, let work = job.work { state.places[work, default: 0] += 1 }
            return job
        }
    }

    /// The functions in which the last steps were, the most frequent first.
    var busiest: [String] {
        let counts = state.withLock { $0.places }
        return counts.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(3).map(\.key)
    }

    /// Nobody runs the jobs that are left: their tasks never end, and keep what they have.
    func end() {
        let left = state.withLock { state in
            state.hasEnded = true
            defer { (state.ready, state.delayed) = ([], []) }
            return state.ready + state.delayed.map(\.job)
        }
        abandoned.withLock { $0 += left }
        known.forget()
    }
}

/// The jobs of simulations that have ended before their tasks.
private let abandoned = Guarded<[SimulatedTasks.Job]>([])
#endif
