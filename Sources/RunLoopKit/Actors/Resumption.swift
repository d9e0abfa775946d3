#if os(Linux)
extension UnsafeContinuation where E == Never {
    /// Has the task go on where its actor is. To be called in the closure that is given the continuation, before anybody else has it.
    ///
    /// Otherwise the runtime gives a resumed task to its task executor, or to the thread pool, from where it returns to its actor: two threads
    /// are woken for each `await`, also if the task, its actor and the code that resumes it are on one thread. `actor` is what the caller
    /// is isolated to; a caller that is isolated to nothing goes on where the runtime has it.
    @inlinable
    package func resumes(on actor: (any Actor)?) {
        if let actor { unsafe Resumption.direct(unsafeBitCast(self, to: UnsafePointer<UInt>.self), to: actor) }
    }
}

/// The executor of a continuation.
///
/// A continuation that has one is resumed on it, and compiled code may set it; but no declaration in Swift leads there, so it is set here. The
/// task of the continuation has the context of the wait, in which the compiler's code and the runtime agree on eight words: the caller's context,
/// the function that the task goes on with, flags, the state, the error, where the result goes, and the two of the executor.
///
/// They are looked at before anything is written, and once per process a task of no consequence finds out whether the runtime acts on it. Where
/// it does not, a task goes on by the way of the pool, as it does without this.
///
/// No race: the words are written by the thread that runs the task, in the closure that is given the continuation, and read by the code
/// that resumes it, which has it from that thread, through a lock. A task that is resumed before it has suspended never leaves its thread,
/// and nobody reads them. The executor is not retained: the caller is isolated to the actor, and so keeps it until it goes on.
@safe @usableFromInline package enum Resumption {
    private static let contextOfTask = 8
    private static let functionOfTask = 7

    @usableFromInline
    package static func direct(_ task: UnsafePointer<UInt>, to actor: any Actor) {
        if !isSupported { return }
        unsafe direct(task, to: executor(of: actor))
    }

    /// - Returns: were the words what they have to be?
    @discardableResult
    fileprivate static func direct(_ task: UnsafePointer<UInt>, to executor: UnownedSerialExecutor) -> Bool {
        guard let context = unsafe UnsafeMutablePointer<UInt>(bitPattern: task[contextOfTask]) else { return false }
        // It goes on with a function of the context's, cannot throw, waits for nothing yet, has no error and no executor.
        let isOfContinuation =
            unsafe context[1] == task[functionOfTask] && context[2] | context[3] | context[4] == 0 && context[5] != 0
            && context[6] | context[7] == 0
        if !isOfContinuation { return false }
        unsafe (context + 6).withMemoryRebound(to: UnownedSerialExecutor.self, capacity: 1) {
            unsafe $0.pointee = executor
        }
        return true
    }

    private static func executor(of actor: any Actor) -> UnownedSerialExecutor {
        unsafe actor === MainActor.shared ? ofMainActor : actor.unownedExecutor
    }

    /// The main actor's own executor, if that is the main loop. Otherwise it is the main dispatch queue, which the loop serves by a system call
    /// here and there: what the loop's thread resumes in a run goes on there as well.
    private static let ofMainActor =
        unsafe Hooks.isExecutorOfMainActor
        ? MainActor.sharedUnownedExecutor : ResumedMainActor.shared.asUnownedSerialExecutor()

    private static let isSupported: Bool =
        unsafe MemoryLayout<UnownedSerialExecutor>.size == 2 * MemoryLayout<UInt>.size && ResumptionProbe().arrives()
}

/// A task that waits on an executor of its own, and is resumed at once. It runs on the thread that asks, and nobody else has its executor.
private final class ResumptionProbe: SerialExecutor, @unchecked Sendable {
    @safe private actor Prober {
        private let executor: ResumptionProbe
        var waiter: UnsafeContinuation<Void, Never>?

        init(_ executor: ResumptionProbe) { self.executor = executor }

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

        func begin() {
            Task {
                unsafe await withUnsafeContinuation(isolation: self) { (waiter: UnsafeContinuation<Void, Never>) in
                    let task = unsafe unsafeBitCast(waiter, to: UnsafePointer<UInt>.self)
                    if unsafe Resumption.direct(task, to: executor.asUnownedSerialExecutor()) {
                        unsafe self.waiter = waiter
                    } else {
                        unsafe waiter.resume()
                    }
                }
            }
        }

        func takeWaiter() -> UnsafeContinuation<Void, Never>? { unsafe waiter.take() }
    }

    private var job: UnownedJob?

    func enqueue(_ job: consuming ExecutorJob) { self.job = UnownedJob(job) }
    func isIsolatingCurrentContext() -> Bool? { true }
    func checkIsolated() {}

    /// - Returns: was its job here after it had waited?
    func arrives() -> Bool {
        let prober = Prober(self)
        prober.assumeIsolated { $0.begin() }
        runJob()
        guard let waiter = unsafe prober.assumeIsolated({ unsafe $0.takeWaiter() }) else { return false }
        unsafe waiter.resume()
        // If not, the pool has it by now: the task ends there, and touches nothing.
        return runJob()
    }

    @discardableResult
    private func runJob() -> Bool {
        guard let job = job.take() else { return false }
        unsafe job.runSynchronously(on: asUnownedSerialExecutor())
        return true
    }
}
#endif
