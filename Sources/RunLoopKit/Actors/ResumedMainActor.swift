#if os(Linux)
internal import CRunLoopCore

/// The tasks of the main actor that the main loop resumes, in a program in which the main actor's executor is the main dispatch queue.
///
/// That is served by the main loop, on the same thread: so a task that this thread resumes in a run goes on in that run, and the kernel has nothing
/// to do with it. Anything else goes the way of the queue, which has another server if nobody runs the loop: that is also why what is left at the
/// end of a run, after a batch that was too large, is given to the queue.
final class ResumedMainActor: JobQueue, SerialExecutor, @unchecked Sendable {
    static let shared = ResumedMainActor(of: .main)

    private let loop: RunLoop

    private init(of loop: RunLoop) {
        self.loop = loop
        unsafe super.init(loop.core, loop.end, modes: [.common])
        let ends = RunLoop.Observer(.exit) { [weak self] _, _ in self?.discard() }
        loop.addUnlessOver(ends, forMode: .common)
    }

    override func enqueue(_ job: consuming ExecutorJob) {
        // In another mode the queue is not served either, and no run of a common mode may come, whose end would give the job to the queue.
        if loop.isCurrent, let mode = loop.currentMode, loop.isCommon(mode) {
            super.enqueue(job)
        } else {
            MainActor.shared.enqueue(UnownedJob(job))
        }
    }

    override func run(_ job: UnownedJob) {
        unsafe job.runSynchronously(on: MainActor.sharedUnownedExecutor)
    }

    /// At the end of a run, and if the thread ends: the main actor may be on another one then.
    override func pass(_ job: UnownedJob) {
        MainActor.shared.enqueue(job)
    }
}
#endif
