#if os(Linux)
internal import CRunLoopSimulation
internal import RunLoopKit
internal import RunLoopKitTasks
internal import Synchronization

#if compiler(<6.4)

@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency

/// The default executor of a program that simulates: what a simulation owns goes to its tasks, and everything else to the executor that the
/// program would have without it.
private final class SimulationTaskExecutor: TaskExecutor, SchedulingExecutor {
    static let shared = SimulationTaskExecutor()

    private init() {}

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if let simulation = RunLoop.Simulation.owner(of: job) {
            simulation.tasks.add(.init(job, on: .ofTasks))
        } else if owners.mayGoOn(TaskWords(job).number) {
            former.tasks.enqueue(ExecutorJob(job))
        }
    }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
        let job = UnownedJob(job)
        if let tasks = RunLoop.Simulation.current?.tasks, let delay = delay as? Duration {
            tasks.add(.init(job, on: .ofTasks), after: delay)
        } else {
            former.scheduling.enqueue(ExecutorJob(job), after: delay, tolerance: tolerance, clock: clock)
        }
    }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
        let job = UnownedJob(job)
        // In a simulation, the clock shows its time.
        if let tasks = RunLoop.Simulation.current?.tasks, let delay = clock.now.duration(to: instant) as? Duration {
            tasks.add(.init(job, on: .ofTasks), after: delay)
        } else {
            former.scheduling.enqueue(ExecutorJob(job), at: instant, tolerance: tolerance, clock: clock)
        }
    }
}

/// The same for the main actor.
private final class SimulationMainExecutor: MainExecutor {
    static let shared = SimulationMainExecutor()

    private init() {}

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if let simulation = RunLoop.Simulation.owner(of: job) {
            simulation.tasks.add(.init(job, on: .main))
        } else if owners.mayGoOn(TaskWords(job).number) {
            former.main.enqueue(ExecutorJob(job))
        }
    }

    // Of code that is not in a job of the main actor, on whatever thread: call-outs of the main loop are isolated to it.
    func isIsolatingCurrentContext() -> Bool? {
        RunLoop.Simulation.current.map(\.loop.isCurrent) ?? former.main.isIsolatingCurrentContext()
    }

    func checkIsolated() {
        guard let simulation = RunLoop.Simulation.current else { return former.main.checkIsolated() }
        precondition(simulation.loop.isCurrent, "This must run on the thread of the simulation's main loop.")
    }

    func run() throws { try former.main.run() }
    func runUntil(_ condition: () -> Bool) throws { try former.main.runUntil(condition) }
    func stop() { former.main.stop() }
}

/// The executors that the program would have without simulations. Written when the program is loaded.
private struct FormerExecutors {
    var main: any MainExecutor = PlatformExecutorFactory.mainExecutor
    var tasks: any TaskExecutor = PlatformExecutorFactory.defaultExecutor
    var scheduling: any SchedulingExecutor {
        guard let executor = tasks as? any SchedulingExecutor else {
            preconditionFailure("A default executor without delays can't be used beside simulations.")
        }
        return executor
    }
}

// Written once, before there is another thread.
@safe nonisolated(unsafe) private var former = FormerExecutors()

private enum SimulationExecutorFactory: ExecutorFactory {
    static var mainExecutor: any MainExecutor { SimulationMainExecutor.shared }
    static var defaultExecutor: any TaskExecutor { SimulationTaskExecutor.shared }
}

/// For at_load.c.
@c(runloop_install_simulation)
func installSimulation() {
    // Asking makes the runtime choose them, unless another product has.
    former = FormerExecutors(main: MainActor.executor, tasks: Task.defaultExecutor)
    unsafe Hooks.mainLoop = { RunLoop.Simulation.current?.loop }
    Schedule.followSends()
    Schedule.followOutsideWork()
    install(SimulationExecutorFactory.self)
    // It passes on what no simulation owns.
    unsafe Hooks.isExecutorOfMainActor = true
}

private func install<Factory: ExecutorFactory>(_ factory: Factory.Type) {
    _createExecutors(factory: factory)
}

/// Do tasks that a simulation starts belong to it?
let ownsTasks = Task.defaultExecutor === SimulationTaskExecutor.shared

func runSynchronously(_ job: UnownedJob, onMainActor: Bool) {
    if onMainActor {
        unsafe job.runSynchronously(on: SimulationMainExecutor.shared.asUnownedSerialExecutor())
    } else {
        unsafe job.runSynchronously(on: SimulationTaskExecutor.shared.asUnownedTaskExecutor())
    }
}

extension RunLoop.Simulation {
    /// The simulation to which a job belongs that is to be run: on a thread of a simulation, that one, unless the task is older than it; on any
    /// other thread the one whose task it is, which has left then.
    fileprivate static func owner(of job: UnownedJob) -> RunLoop.Simulation? {
        let number = TaskWords(job).number
        if let simulation = current { return simulation.adopt(number) ? simulation : nil }
        if owners.isEmpty { return nil }
        let owner = owners.owner(of: number)
        owner?.noteOutsider(CodePlace(of: TaskWords(job)))
        return owner
    }
}

#else

/// This runtime has no default executor that could be another one, so only tasks that prefer the simulation's executor belong to it.
let ownsTasks = false

func runSynchronously(_ job: UnownedJob, onMainActor: Bool) {}

#endif
#endif
