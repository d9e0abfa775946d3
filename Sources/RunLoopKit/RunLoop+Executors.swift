extension RunLoop {
    /// Runs the jobs of actors on a loop's thread, when the loop runs. Make an actor's `unownedExecutor` from it:
    ///
    ///     actor Device {
    ///         private let loop: RunLoop
    ///         init(on loop: RunLoop) { self.loop = loop }
    ///         nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
    ///     }
    ///
    /// The actor keeps the loop, or the executor: as the name says, `UnownedSerialExecutor` does not. Actors with the same
    /// executor call each other without a switch. Jobs begin in the order in which they were added, those of a nested run
    /// too: an actor whose method nests a run lets its other jobs in, as at an `await`.
    ///
    /// In every call-out of the loop, and wherever else its thread is, `assumeIsolated` and `preconditionIsolated` of such an
    /// actor pass.
    ///
    /// No job is ever dropped. When the thread ends, it runs the jobs it has, and those which they add, after `onCancel` of
    /// every source. A job that is added later has no thread to run on, which is a precondition failure: end the tasks before
    /// the thread. In a forked child nothing runs for the parent's loop: there too.
    ///
    /// A job costs two locks and, if the loop sleeps, one system call; no allocation, once the queue has been as long before.
    public final class ActorExecutor: SerialExecutor {
        let jobs: JobQueue
        static var callOuts: JobCallOuts { .ofActors }
        /// The executor whose jobs these are, if another one passes them on.
        private let principal: (@Sendable () -> UnownedSerialExecutor)?

        init(_ core: LoopCore, modes: Set<Mode>, principal: (@Sendable () -> UnownedSerialExecutor)? = nil) {
            jobs = JobQueue(core, modes: modes)
            self.principal = principal
        }

        /// Has the job run on the loop's thread, when the loop runs. The runtime calls this, from any thread.
        public func enqueue(_ job: consuming ExecutorJob) {
            jobs.add(UnownedJob(job), for: self)
        }

        func run(_ job: UnownedJob) {
            job.runSynchronously(on: principal?() ?? asUnownedSerialExecutor())
        }

        /// Is this the loop's thread? Any thread. O(1).
        public func isIsolatingCurrentContext() -> Bool? { jobs.core.isCurrent }

        /// Stops the program if this is not the loop's thread. Any thread. O(1).
        public func checkIsolated() {
            precondition(jobs.core.isCurrent, "This belongs on the thread of the actor's run loop.")
        }
    }

    /// Runs tasks on a loop's thread, when the loop runs: `Task(executorPreference: loop.taskExecutor)` and
    /// `withTaskExecutorPreference`. Such a task leaves the thread for actors that have an executor of their own, the main
    /// actor for instance, and comes back.
    ///
    /// All that is said of `ActorExecutor` holds, but for isolation, which tasks do not have. It is a class of its own because
    /// an executor that is both makes calls between actors eighty times as expensive.
    public final class PreferredExecutor: TaskExecutor {
        let jobs: JobQueue
        static var callOuts: JobCallOuts { .ofTasks }

        init(_ core: LoopCore, modes: Set<Mode>) {
            jobs = JobQueue(core, modes: modes)
        }

        /// Has the job run on the loop's thread, when the loop runs. The runtime calls this, from any thread.
        public func enqueue(_ job: consuming ExecutorJob) {
            jobs.add(UnownedJob(job), for: self)
        }

        func run(_ job: UnownedJob) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// The executor for actors that belong on this loop's thread, in all common modes. The same object each time. Any thread.
    /// O(1).
    public var executor: ActorExecutor { executors.ofActors }

    /// The executor for tasks that prefer this loop's thread, in all common modes. The same object each time. Any thread. O(1).
    public var taskExecutor: PreferredExecutor { executors.ofTasks }

    /// Makes an executor whose jobs run only when the loop runs in one of `modes`; without modes, not before the thread ends.
    ///
    /// A new one each time, to be kept by the actors that share it. Actors with different executors of a loop are isolated by
    /// the same thread, so `assumeIsolated` passes, but a call between them goes through the loop. Any thread. O(1).
    public func makeExecutor(inModes modes: Set<Mode>) -> ActorExecutor { ActorExecutor(core, modes: modes) }

    /// Makes an executor that runs, in all common modes, the jobs which another one passes on: to the runtime they run on that one.
    package func makeExecutor(for principal: @escaping @Sendable () -> UnownedSerialExecutor) -> ActorExecutor {
        ActorExecutor(core, modes: [.common], principal: principal)
    }

    /// Makes an executor for tasks which run only when the loop runs in one of `modes`. As `makeExecutor(inModes:)`.
    public func makeTaskExecutor(inModes modes: Set<Mode>) -> PreferredExecutor {
        PreferredExecutor(core, modes: modes)
    }
}

extension RunLoop.ActorExecutor: JobExecutor {}
extension RunLoop.PreferredExecutor: JobExecutor {}

/// The executors that come with a loop.
struct LoopExecutors: Sendable {
    let ofActors: RunLoop.ActorExecutor
    let ofTasks: RunLoop.PreferredExecutor

    init(_ core: LoopCore) {
        ofActors = RunLoop.ActorExecutor(core, modes: [.common])
        ofTasks = RunLoop.PreferredExecutor(core, modes: [.common])
    }
}
