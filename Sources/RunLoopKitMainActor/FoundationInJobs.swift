#if os(Linux)
#if compiler(<6.4)

internal import CRunLoopExecutors
internal import RunLoopKit

/// Runs of Foundation's loop inside jobs that a run of the main loop performs: a dialog, or `Process.waitUntilExit()`, in a task of the main
/// actor. As if they were runs of the main loop, they serve the other jobs, and the main loop with them: a hosted run is nested in the job, and
/// ends with Foundation's.
///
/// Where the main loop is a guest already, or a host of the program's serves it, that serves it here, too.
/// The watch is its own, from the beginning to the end, on one thread.
@safe final class FoundationInJobs {
    /// One for each run of Foundation's, `nil` where somebody else serves the main loop. On the initial thread only.
    private nonisolated(unsafe) static var runs: [FoundationInJobs?] = []
    /// Once, when the first job is about to run: before that, a program may not have linked its Foundation.
    static let observation: Void = runloop_foundation_observe({ FoundationInJobs.begin() }, { FoundationInJobs.end() })

    private let run: RunLoop.HostedRun
    @safe private let watch: UnsafeMutableRawPointer

    private static func begin() {
        let isUnserved = MainLoopJobs.shared.isInJob && RunLoop.main.innermostHostedRun == nil
        unsafe runs.append(isUnserved ? FoundationInJobs() : nil)
    }

    private static func end() {
        unsafe runs.popLast()??.end()
    }

    /// `nil` without memory or descriptors: then nobody is served until the job has ended.
    private init?() {
        guard let run = try? RunLoop.HostedRun(ofMainQueue: ()) else { return nil }
        guard let watch = unsafe runloop_foundation_watch(run.fileDescriptor, { FoundationInJobs.serve() }) else {
            return nil
        }
        unsafe (self.run, self.watch) = (run, watch)
    }

    private static func serve() {
        guard let innermost = unsafe runs.last(where: { $0 != nil }) ?? nil, innermost.run.isInnermost else { return }
        innermost.run.iterate(for: .milliseconds(1))
    }

    private func end() {
        unsafe runloop_foundation_end_watch(watch)
        // A stop of the main loop may have ended it.
        run.end()
    }
}

#endif
#endif
