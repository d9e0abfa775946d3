#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopExecutors
internal import CRunLoopOverlay
internal import RunLoopKit
internal import RunLoopKitCLibrary

/// What a runtime that does not take the executors gets.
package enum Fallback {
    /// The main actor stays with the main dispatch queue, which the main loop serves, also below an `async` `main`. Says so once.
    package static func begin(product: StaticString, isMainActorFree: Bool) {
        let serves = isMainActorFree && runloop_take_over_async_main { while true { RunLoop.main.run() } }
        unsafe runloop__diagnostic_write(
            RUNLOOP__NO_EXECUTORS,
            """
            This Swift runtime does not take the executors of \(product). Tasks run where the runtime puts them\
            \(serves ? ", and the main actor on RunLoop.main, through the main dispatch queue." : ".")
            """)
    }
}

#if compiler(<6.4)

@_spi(ExperimentalCustomExecutors) internal import _Concurrency

/// The installation of executors, when the program is loaded, and the proof that the runtime uses them.
package enum Installation {
    package static func begin(
        _ factory: any ExecutorFactory.Type, ofTasks defaultExecutor: (any TaskExecutor)?, product: StaticString
    ) {
        let jobs = MainLoopJobs.shared
        guard jobs.isOnThread else { return Fallback.begin(product: product, isMainActorFree: false) }
        // From now on the end of the thread is noticed: it runs the jobs that are left.
        _ = unsafe runloop_current()
        unsafe jobs.defaultExecutor = defaultExecutor?.asUnownedTaskExecutor()
        install(factory)
        let isTakenForMainActor = MainActor.executor === MainLoopExecutor.shared
        let isTakenForTasks = defaultExecutor.map { $0 === Task.defaultExecutor } ?? true
        let probed: Set<MainLoopJobs.Executor> = defaultExecutor == nil ? [.main] : [.main, .byDefault]
        if !isTakenForMainActor || !isTakenForTasks || !probesArrive(at: probed) {
            let isMainActorFree = MainActor.executor === PlatformExecutorFactory.mainExecutor
            Fallback.begin(product: product, isMainActorFree: isMainActorFree)
        }
        if isTakenForMainActor {
            unsafe Hooks.isExecutorOfMainActor = true
            Hooks.taskLister.withLock { $0 = TaskList.shared }
            unsafe Hooks.endSleep = { unsafe jobs.endSleep($0) }
            jobs.whenRunsHaveEnded = MainQueueGuest.runsHaveEnded
            jobs.whenNobodyRuns = MainQueueGuest.invite
            atexit { MainLoopJobs.shared.reportAtExit() }
            RunningJob.watch()
        }
    }

    private static func install<Factory: ExecutorFactory>(_ factory: Factory.Type) {
        _createExecutors(factory: factory)
    }

    private static func probesArrive(at executors: Set<MainLoopJobs.Executor>) -> Bool {
        Task { @MainActor in }
        if executors.contains(.byDefault) { Task.detached {} }
        return MainLoopJobs.shared.runProbes() == executors
    }
}

/// For at_load.c.
@c(runloop_install_main_actor)
func installMainActor() {
    Installation.begin(MainActorExecutorFactory.self, ofTasks: nil, product: "RunLoopKitMainActor")
}

#else

/// For at_load.c.
@c(runloop_install_main_actor)
func installMainActor() {
    Fallback.begin(product: "RunLoopKitMainActor", isMainActorFree: true)
}

#endif
#endif
