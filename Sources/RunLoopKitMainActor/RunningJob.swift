#if os(Linux)
#if compiler(<6.4)

internal import CRunLoopCore
internal import CRunLoopDiagnosticsOverlay
internal import CRunLoopOverlay
internal import RunLoopKit
internal import RunLoopKitTasks
internal import Synchronization

/// The job that the main loop executes, for the sentence about one that keeps the loop: written when it has ended, when another thread has a job
/// for the loop meanwhile, when the process ends with it, or when it computes and computes.
///
/// The loop's thread writes it. Another one reads it between two looks at `begin`, which is 0 while the words change and different for each job;
/// stores and loads are acquiring and releasing, so words of one job only are believed.
final class RunningJob: Sendable {
    /// A job that lasts longer is worth a diagnostic, in nanoseconds.
    private static let patience: Int64 = 250_000_000

    private let begin = Atomic<Int64>(0)
    private let words = InlineArray<10, Atomic<UInt>> { _ in Atomic(0) }
    /// `begin` at the last check of the loop's thread, and whether a copy of the process has written the sentence.
    private let lastSeen = Atomic<Int64>(0)
    private let isReported = Atomic(false)

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

    /// Writes once per process that the job keeps the main loop, if it has for long. Any thread. The place is where it is now, if that is known.
    func report(at now: Int64, in place: CodePlace? = nil) {
        let start = begin.load(ordering: .acquiring)
        guard start != 0, now - start >= Self.patience, isDue else { return }
        let trace = JobTrace { words[$0].load(ordering: .acquiring) }
        if begin.load(ordering: .acquiring) != start { return }
        let place = place ?? trace.place
        unsafe runloop__diagnostic_write(
            RUNLOOP__JOB_BLOCKS,
            """
            Task \(trace.number) kept the main loop for \((now - start) / 1_000_000) ms without an await, in \
            \(place?.full ?? "a function without a name"). Nothing else of the main loop happened meanwhile. \
            What has to block belongs into runBlocking, and a long computation calls Task.yield() now and then.
            """)
    }

    /// Of another thread that has a job for the loop.
    func reportToOthers() {
        if begin.load(ordering: .relaxed) == 0 || !isDue { return }
        report(at: runloop_get_now_ns(nil))
    }

    private var isDue: Bool {
        runloop__diagnostic_is_due(RUNLOOP__JOB_BLOCKS) && !isReported.load(ordering: .relaxed)
    }

    /// On the loop's thread, in a signal handler, whenever it has used the processor for another quarter of a second.
    func isStuck() -> Bool {
        let start = begin.load(ordering: .relaxed)
        return lastSeen.exchange(start, ordering: .relaxed) == start && start != 0 && isDue
    }

    func hasReported() { isReported.store(true, ordering: .relaxed) }

    /// Has the calling thread, which is the loop's, checked by the processor's time that it takes.
    static func watch() {
        if !runloop_diagnostics_are_enabled() { return }
        var watch = unsafe runloop__busy_watch(
            interval_ns: patience, is_stuck: { MainLoopJobs.shared.running.isStuck() },
            report: { calls, count, isLast in
                let calls = unsafe UnsafeBufferPointer(start: calls, count: Int(count))
                // Before the one to which a call returns. From some functions of the runtime no way leads to their callers.
                let place = unsafe CodePlace.ofProgram(calls.map { UInt(bitPattern: $0) - 1 }).first
                if place == nil && !isLast { return false }
                MainLoopJobs.shared.running.report(at: runloop_get_now_ns(nil), in: place)
                return true
            },
            has_reported: { MainLoopJobs.shared.running.hasReported() })
        // A program that has the signal for itself goes without.
        _ = unsafe runloop__watch_busy(&watch)
    }
}

#endif
#endif
