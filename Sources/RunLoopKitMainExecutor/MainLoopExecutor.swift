// The interface for custom main executors is not public yet ("SPI"), and changes with the compiler: this was written for, and tested
// with, 6.3. With another compiler the module has only a function that says so.

#if compiler(>=6.3) && compiler(<6.4)

    public import RunLoopKit
    internal import Synchronization
    @_spi(ExperimentalCustomExecutors) internal import _Concurrency

    extension RunLoop {
        /// Experimental. Has the main actor's jobs run on `RunLoop.main` itself, in the common modes, and not by way of the main
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
        /// What that gives: a run that is nested in a job of the main actor runs the actor's other jobs, as at an `await`
        /// (without this they wait until the job has returned, R109), and blocks for `DispatchQueue.main`, which the loop goes
        /// on serving. Jobs need no descriptor and no block. Everything else is as before: timers and other closures of
        /// the main loop are on the main actor, and `Task.sleep` is the default executor's.
        ///
        /// The first statement of a synchronous `main`, on the initial thread; anything else is a precondition failure. In an
        /// `async` `main` it is too late, and the program hangs at its first suspension: link the product
        /// RunLoopKitMainExecutorAtLoad instead, which needs no call. Twice is once. O(1).
        public static func installMainExecutor() {
            precondition(
                RunLoop.main.isCurrent, "The main executor is installed by the initial thread, before anything else.")
            if MainLoopExecutor.isInstalled.exchange(true, ordering: .sequentiallyConsistent) { return }
            _createExecutors(factory: MainLoopExecutorFactory.self)
        }
    }

    /// For RunLoopKitMainExecutorAtLoad.
    @_cdecl("runloop_install_main_executor")
    func installMainExecutorAtLoad() {
        RunLoop.installMainExecutor()
    }

    /// Passes the main actor's jobs on to the main loop.
    final class MainLoopExecutor: MainExecutor {
        static let shared = MainLoopExecutor()
        static let isInstalled = Atomic(false)

        private let jobs = RunLoop.main.makeExecutor { shared.asUnownedSerialExecutor() }
        private let isStopped = Atomic(false)

        private init() {}

        func enqueue(_ job: consuming ExecutorJob) { jobs.enqueue(job) }
        func isIsolatingCurrentContext() -> Bool? { jobs.isIsolatingCurrentContext() }
        func checkIsolated() { jobs.checkIsolated() }

        /// Runs the main loop until `stop()`: what the runtime calls on the initial thread below an `async` `main`. A stop of
        /// the loop ends no more than runs nested in it.
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

    /// What the runtime asks for its executors. The other one stays as it is.
    enum MainLoopExecutorFactory: ExecutorFactory {
        static var mainExecutor: any MainExecutor { MainLoopExecutor.shared }
        static var defaultExecutor: any TaskExecutor { PlatformExecutorFactory.defaultExecutor }
    }

#else

    public import RunLoopKit

    extension RunLoop {
        /// Not with this compiler.
        @available(*, unavailable, message: "RunLoopKitMainExecutor needs an interface of the Swift 6.3 runtime.")
        public static func installMainExecutor() {}
    }

    /// For RunLoopKitMainExecutorAtLoad, which changes nothing then.
    @_cdecl("runloop_install_main_executor")
    func installMainExecutorAtLoad() {}

#endif
