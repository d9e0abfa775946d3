#if os(Linux)
extension RunLoop {
    /// Runs the jobs of actors on this loop's thread, when the loop runs in a common mode. Make an actor's `unownedExecutor` from it:
    ///
    ///     actor Device {
    ///         private let loop: RunLoop
    ///         init(on loop: RunLoop) { self.loop = loop }
    ///         nonisolated var unownedExecutor: UnownedSerialExecutor {
    ///             loop.executor.asUnownedSerialExecutor()
    ///         }
    ///     }
    ///
    /// The actor must keep the loop, or the executor, since `UnownedSerialExecutor` does not retain it. Actors with the same
    /// executor call each other without a switch. Jobs begin in the order in which they were added, in a nested run too: while
    /// a method of an actor runs the loop, other jobs of the actor may begin, as at an `await`.
    ///
    /// In every call-out of the loop, and anywhere else on its thread, `assumeIsolated` and `preconditionIsolated` of such an
    /// actor pass.
    ///
    /// Every accepted job runs. When the thread ends, it runs the remaining jobs, and those which they add, after `onCancel` of
    /// every source. A job that is added later has no thread to run on, which is a precondition failure: end the tasks before
    /// the thread. In a forked child nothing runs for the parent's loop, so the same is true there.
    ///
    /// A job costs two locks and, if the loop sleeps, one system call. The queue allocates only when it grows. Timers, descriptors
    /// and performed closures wait for at most 3 × 256 jobs, however many there are.
    ///
    /// The same object each time. Any thread. O(1).
    public var executor: some SerialExecutor { executors.ofActors }

    /// Runs tasks on this loop's thread, when the loop runs in a common mode: `Task(executorPreference: loop.taskExecutor)` and
    /// `withTaskExecutorPreference`. Such a task leaves the thread for actors that have an executor of their own, the main
    /// actor for instance, and comes back.
    ///
    /// It behaves like `executor`, except for isolation, which tasks do not have. The same object each time. Any thread. O(1).
    public var taskExecutor: some _Concurrency.TaskExecutor { executors.ofTasks }

    /// Makes an executor whose jobs run only when the loop runs in one of `modes`; with no modes, not before the thread ends.
    ///
    /// Each call makes a new executor, which the actors that share it keep. Actors with different executors of a loop are
    /// isolated by the same thread, so `assumeIsolated` passes, but a call between them goes through the loop. Any thread. O(1).
    public func makeExecutor(inModes modes: Set<Mode>) -> some SerialExecutor {
        unsafe ActorsOnLoop(core, end, modes: modes)
    }

    /// Makes an executor for tasks which run only when the loop runs in one of `modes`. As `makeExecutor(inModes:)`.
    public func makeTaskExecutor(inModes modes: Set<Mode>) -> some _Concurrency.TaskExecutor {
        unsafe TasksOnLoop(core, end, modes: modes)
    }
}

final class ActorsOnLoop: JobQueue, SerialExecutor, @unchecked Sendable {
    override func run(_ job: UnownedJob) {
        unsafe job.runSynchronously(on: asUnownedSerialExecutor())
    }

    func isIsolatingCurrentContext() -> Bool? { isOnThread }

    func checkIsolated() {
        precondition(isOnThread, "This must run on the thread of the actor's run loop.")
    }
}

/// A class of its own, because an executor that serves actors as well makes calls between actors eighty times as expensive.
final class TasksOnLoop: JobQueue, TaskExecutor, @unchecked Sendable {
    override func run(_ job: UnownedJob) {
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
}

/// The executors that come with a loop.
struct LoopExecutors: Sendable {
    let ofActors: ActorsOnLoop
    let ofTasks: TasksOnLoop

    init(_ core: OpaquePointer, _ end: EndOfLoop) {
        ofActors = unsafe ActorsOnLoop(core, end, modes: [.common])
        ofTasks = unsafe TasksOnLoop(core, end, modes: [.common])
    }
}
#endif
