#if os(Linux)
#if compiler(<6.4)

internal import CRunLoopCore
internal import CRunLoopOverlay
internal import RunLoopKit
internal import RunLoopKitTasks
internal import Synchronization

/// The job that the main loop executes, for the sentence about one that keeps the loop: written when it has ended, when another thread has a job
/// for the loop meanwhile, or when the process ends with it.
///
/// The loop's thread writes it. Another one reads it between two looks at `begin`, which is 0 while the words change and different for each job;
/// stores and loads are acquiring and releasing, so words of one job only are believed.
final class RunningJob: Sendable {
    /// A job that lasts longer is worth a diagnostic, in nanoseconds.
    private static let patience: Int64 = 250_000_000

    private let begin = Atomic<Int64>(0)
    private let words = InlineArray<10, Atomic<UInt>> { _ in Atomic(0) }

    /// On the loop's thread, as the next two.
    func begins(_ job: JobLink, at now: Int64) {
        let trace = JobTrace(TaskWords(job.job))
        for place in words.indices { words[place].store(trace.word(place), ordering: .relaxed) }
        begin.store(now, ordering: .releasing)
    }

    /// Others are served again: it has ended, or runs the loop itself.
    func leaves() { begin.store(0, ordering: .sequentiallyConsistent) }

    func ends(at now: Int64) {
        report(at: now)
        leaves()
    }

    /// Writes once per process that the job keeps the main loop, if it has for long. Any thread.
    func report(at now: Int64) {
        let start = begin.load(ordering: .acquiring)
        guard start != 0, now - start >= Self.patience, runloop__diagnostic_is_due(RUNLOOP__JOB_BLOCKS) else { return }
        let trace = JobTrace { words[$0].load(ordering: .acquiring) }
        if begin.load(ordering: .acquiring) != start { return }
        unsafe runloop__diagnostic_write(
            RUNLOOP__JOB_BLOCKS,
            """
            Task \(trace.number) kept the main loop for \((now - start) / 1_000_000) ms without an await, in \
            \(trace.place?.full ?? "a function without a name"). Nothing else of the main loop happened meanwhile. \
            What has to block belongs into runBlocking.
            """)
    }

    /// Of another thread that has a job for the loop.
    func reportToOthers() {
        if begin.load(ordering: .relaxed) == 0 || !runloop__diagnostic_is_due(RUNLOOP__JOB_BLOCKS) { return }
        report(at: runloop_get_now_ns(nil))
    }
}

#endif
#endif
