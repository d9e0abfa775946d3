// The interface for custom main executors is not public yet ("SPI"), and changes with the compiler: this was written for, and
// tested with, 6.3. With another compiler there is only an unavailable function.

#if compiler(>=6.3) && compiler(<6.4)

    public import RunLoopKit
    internal import Synchronization
    @_spi(ExperimentalCustomExecutors) internal import _Concurrency

    extension RunLoop {
        /// Experimental. Runs the main actor's jobs on `RunLoop.main` itself, in the common modes, instead of through the main
        /// dispatch queue.
        ///
        ///     @main struct Program {
        ///         static func main() {
        ///             RunLoop.installMainExecutor()
        ///             …
        ///             RunLoop.main.run()
        ///         }
        ///     }
        ///
        /// Then a run that is nested in a job of the main actor runs the actor's other jobs, as at an `await` (otherwise they
        /// wait until the job has returned, R109), and blocks of `DispatchQueue.main`, which the loop still serves. Jobs need
        /// no descriptor and no block. Nothing else changes: timers and other closures of the main loop are on the main actor,
        /// and `Task.sleep` uses the default executor.
        ///
        /// Call it as the first statement of a synchronous `main`. It is a precondition failure on another thread than the initial
        /// one. In an `async` `main` it is too late, and the program hangs at its first suspension. Such a program declares
        /// `@c(runloop_main_executor_at_load) func mainExecutorAtLoad() {}` instead, a C function that is never called; the
        /// executor is then installed when the program is loaded. A second installation has no effect. O(1).
        public static func installMainExecutor() {
            precondition(
                RunLoop.main.isCurrent, "The main executor is installed by the initial thread, before anything else.")
            if MainLoopExecutor.isInstalled.exchange(true, ordering: .sequentiallyConsistent) { return }
            _createExecutors(factory: MainLoopExecutorFactory.self)
        }
    }

    /// For runtime_hooks.c.
    @c(runloop_install_main_executor)
    func installMainExecutorAtLoad() {
        RunLoop.installMainExecutor()
    }

    /// Passes the main actor's jobs to the main loop.
    final class MainLoopExecutor: MainExecutor {
        static let shared = MainLoopExecutor()
        static let isInstalled = Atomic(false)

        private let jobs = RunLoop.main.makeExecutor { shared.asUnownedSerialExecutor() }
        private let isStopped = Atomic(false)

        private init() {}

        func enqueue(_ job: consuming ExecutorJob) { jobs.enqueue(job) }
        func isIsolatingCurrentContext() -> Bool? { jobs.isIsolatingCurrentContext() }
        func checkIsolated() { jobs.checkIsolated() }

        /// Runs the main loop until `stop()`. The runtime calls it on the initial thread below an `async` `main`. A stop of the
        /// loop only ends runs that are nested in it.
        func run() throws {
            repeat { RunLoop.main.run() } while !isStopped.exchange(false, ordering: .sequentiallyConsistent)
        }

        func runUntil(_ condition: () -> Bool) throws {
            while !RunLoop.main.run(until: .now + .seconds(3600), or: condition) {}
        }

        func stop() {
            isStopped.store(true, ordering: .sequentiallyConsistent)
            RunLoop.main.stopCurrentOrNextRun()
        }
    }

    /// The factory that the runtime calls. The default executor is the platform's.
    enum MainLoopExecutorFactory: ExecutorFactory {
        static var mainExecutor: any MainExecutor { MainLoopExecutor.shared }
        static var defaultExecutor: any TaskExecutor { PlatformExecutorFactory.defaultExecutor }
    }

#else

    public import RunLoopKit

    extension RunLoop {
        /// Not with this compiler.
        @available(*, unavailable, message: "The main executor needs an interface of the Swift 6.3 runtime.")
        public static func installMainExecutor() {}
    }

    /// For runtime_hooks.c, which changes nothing then.
    @c(runloop_install_main_executor)
    func installMainExecutorAtLoad() {}

#endif
