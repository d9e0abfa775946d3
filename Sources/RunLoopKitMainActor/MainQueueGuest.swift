#if os(Linux)
#if compiler(<6.4)

internal import CRunLoopExecutors
internal import CRunLoopOverlay
internal import Dispatch
internal import RunLoopKit
internal import Synchronization

/// The main loop while nobody runs it: a guest of whatever serves the main dispatch queue on the initial thread, as XCTest does in
/// Foundation's loop while it waits for an `async` test.
///
/// A job that no run serves invites the loop, by a block of the queue, which begins a hosted run. Runs of the program are nested
/// in that from then on. If one is active by the time of the block, its end looks whether anything is left to do.
final class MainQueueGuest {
    /// What serves the main queue, and calls when the run has anything to do.
    private enum Host {
        /// Its loop serves the queue in the middle of nothing, and us in runs inside our jobs, too, where nobody serves the queue.
        case foundation
        case other
    }

    /// Made by `runloop_foundation_watch`, and given back once, by `endWatch`; or a source of Dispatch's.
    @safe private enum Watch {
        case ofFoundation(UnsafeMutableRawPointer)
        case ofMainQueue(any DispatchSourceRead)
    }

    private static let isInvited = Atomic(false)
    /// On the initial thread only, as is everything below.
    private nonisolated(unsafe) static var guest: MainQueueGuest?
    /// When the latest invitation for a delayed job is due.
    private nonisolated(unsafe) static var nextInvitation = DispatchTime(uptimeNanoseconds: 0)

    private let run: RunLoop.HostedRun
    private var host = Host.other
    /// `nil` while a call would find a run of the program's that is in its way.
    private var watch: Watch?

    //===-- invitations ------------------------------------------------------------------------------------------===//

    @Sendable
    static func invite() {
        if isInvited.exchange(true, ordering: .sequentiallyConsistent) { return }
        // Not a closure, which would be isolated to the main actor, and end the program if the queue is on another thread.
        DispatchQueue.main.async(execute: enter)
    }

    @Sendable
    private static func enter() {
        guard RunLoop.main.isCurrent else { return tellAboutOtherThread() }
        isInvited.store(false, ordering: .sequentiallyConsistent)
        if MainLoopJobs.shared.isRunning { return }
        let guest = unsafe guest ?? MainQueueGuest()
        unsafe self.guest = guest
        guest.beginWatch(of: runloop__foundation_drains_main_queue() ? .foundation : .other)
        // Foundation's loop calls soon. A job that ran here would keep the queue until it ends.
        if case .ofMainQueue = guest.watch { guest.serve() }
    }

    /// For MainLoopJobs: no run of the program is active any more, and this one is about to leave what came too late for it.
    static func runsHaveEnded() {
        if let guest = unsafe guest { guest.beginWatch(of: guest.host) }
        if MainLoopJobs.shared.hasJobs { return invite() }
        guard let delay = MainLoopJobs.shared.untilDelayedJob else { return }
        // Not at once: a program that runs the loop again and again would handle a block in each run.
        let now = DispatchTime.now()
        let instant = now + .nanoseconds(Int(delay))
        if unsafe nextInvitation > now && nextInvitation <= instant { return }
        unsafe nextInvitation = instant
        DispatchQueue.main.asyncAfter(deadline: instant, execute: DispatchWorkItem(block: enter))
    }

    //===-- the run ----------------------------------------------------------------------------------------------===//

    private init() {
        do {
            run = try RunLoop.HostedRun(ofMainQueue: ())
        } catch {
            preconditionFailure("The main run loop can't be served through the main dispatch queue: \(error)")
        }
        // It has begun, and the host is to call before anything is served.
        MainLoopJobs.shared.leaveRun()
    }

    @Sendable
    private static func serve() { unsafe guest?.serve() }

    private func serve() {
        // The program has become the host meanwhile, or runs the loop, which has all of its work reported here: the next call would
        // follow at once, and find the same.
        if !run.isInnermost || (isOfMainQueue && MainLoopJobs.shared.isRunning) { return endWatch() }
        MainLoopJobs.shared.serve { run.iterate(for: .milliseconds(1)) }
        guard case .ended = run.status, unsafe Self.guest === self else { return }
        // A stop of the loop is meant for a run of the program, so the guest comes again.
        endWatch()
        unsafe Self.guest = nil
        Self.invite()
    }

    //===-- the watch --------------------------------------------------------------------------------------------===//

    private var isOfMainQueue: Bool {
        if case .ofMainQueue = watch { true } else { false }
    }

    private func beginWatch(of host: Host) {
        if watch != nil && host == self.host { return }
        endWatch()
        self.host = host
        if host == .foundation,
            let handle = unsafe runloop_foundation_watch(run.fileDescriptor, { MainQueueGuest.serve() })
        {
            watch = unsafe .ofFoundation(handle)
            return
        }
        let readiness = DispatchSource.makeReadSource(fileDescriptor: run.fileDescriptor, queue: .main)
        readiness.setEventHandler(handler: DispatchWorkItem(block: Self.serve))
        readiness.activate()
        watch = .ofMainQueue(readiness)
    }

    private func endWatch() {
        switch watch {
        case .ofFoundation(let handle): unsafe runloop_foundation_end_watch(handle)
        case .ofMainQueue(let readiness): readiness.cancel()
        case nil: break
        }
        watch = nil
    }

    private static func tellAboutOtherThread() {
        unsafe runloop__diagnostic_write(
            RUNLOOP__NEVER_RUN,
            """
            Tasks wait for RunLoop.main, and nobody runs it: the main dispatch queue has left the initial thread, as with \
            dispatchMain(). Call RunLoop.main.run() instead.
            """)
    }
}

#endif
#endif
