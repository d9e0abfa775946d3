#if os(Linux)
#if compiler(<6.4)

internal import RunLoopKitMainActor
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) public import _Concurrency

/// The default executor: tasks, task groups and actors that have no executor of their own run on the main loop.
///
/// Not the same class as the main executor, because one that serves actors and tasks makes calls between actors eighty times as
/// expensive.
final class SingleThreadExecutor: TaskExecutor, MainLoopScheduling {
    static let shared = SingleThreadExecutor()
    static let executor = MainLoopJobs.Executor.byDefault

    private init() {}
}

/// The executors of a program whose tasks all run on `RunLoop.main`, for a runtime that takes them by
/// `typealias DefaultExecutorFactory = SingleThreadExecutorFactory`. With Swift 6.3 linking this module is enough.
@_spi(ExperimentalCustomExecutors)
public enum SingleThreadExecutorFactory: ExecutorFactory {
    /// The main actor's jobs run on `RunLoop.main`.
    public static var mainExecutor: any MainExecutor { MainLoopExecutor.shared }
    /// All other jobs run there as well.
    public static var defaultExecutor: any TaskExecutor { SingleThreadExecutor.shared }
}

/// For at_load.c.
@c(runloop_install_single_thread)
func installSingleThread() {
    Installation.begin(
        SingleThreadExecutorFactory.self, ofTasks: SingleThreadExecutor.shared, product: "RunLoopKitSingleThread")
}

#else

// Tasks would run where the runtime puts them: that is not what this product is for, and nobody would notice before a data race.
#error(
    "RunLoopKitSingleThread needs Swift 6.3, whose runtime takes its executors. With another one, link RunLoopKitMainActor instead, and give tasks that have to be on the main loop RunLoop.main.taskExecutor."
)

#endif
#endif
