#if compiler(>=6.3) && compiler(<6.4)

    internal import CRunLoopOverlay
    internal import Dispatch
    internal import RunLoopKit
    internal import Synchronization

    /// The main loop while nobody runs it: a guest of whoever serves the main dispatch queue on the initial thread, as XCTest does in
    /// Foundation's loop while it waits for an `async` test.
    ///
    /// A job that comes while no run is active invites the loop, by a block of the queue, which begins a hosted run. From then on
    /// the queue has one more source, and runs of the program are nested in the hosted one. If the program runs the loop by the
    /// time of the block, the guest comes when that run has ended, if anything is left to do.
    final class MainQueueGuest {
        private static let isInvited = Atomic(false)
        /// On the initial thread only, as is everything below.
        private nonisolated(unsafe) static var guest: MainQueueGuest?
        private nonisolated(unsafe) static var endOfRun: RunLoop.Observer?

        private let run: RunLoop.HostedRun
        private let readiness: any DispatchSourceRead

        @Sendable
        static func invite() {
            if isInvited.exchange(true, ordering: .relaxed) { return }
            // Not a closure, which would be isolated to the main actor, and end the program if the queue is on another thread.
            DispatchQueue.main.async(execute: enter)
        }

        @Sendable
        private static func enter() {
            guard RunLoop.main.isCurrent else { return tellAboutOtherThread() }
            isInvited.store(false, ordering: .relaxed)
            if guest != nil { return }
            if RunLoop.main.currentMode != nil { return comeLater() }
            let guest = MainQueueGuest()
            self.guest = guest
            guest.serve()
        }

        private static func comeLater() {
            if endOfRun?.isValid == true { return }
            let observer = RunLoop.Observer(.exit, repeats: false) { _, _ in
                if MainLoopJobs.shared.hasWaiting { invite() }
            }
            endOfRun = observer
            RunLoop.main.addUnlessOver(observer, forMode: .common)
        }

        private init() {
            do {
                run = try RunLoop.HostedRun()
            } catch {
                preconditionFailure("The main run loop can't be served through the main dispatch queue: \(error)")
            }
            readiness = DispatchSource.makeReadSource(fileDescriptor: run.fileDescriptor, queue: .main)
            readiness.setEventHandler(handler: DispatchWorkItem(block: Self.serve))
            readiness.activate()
        }

        @Sendable
        private static func serve() { guest?.serve() }

        private func serve() {
            // The program may have become the host meanwhile.
            if run.isInnermost { run.iterate(for: .milliseconds(1)) }
            guard case .ended = run.status else { return }
            // A stop of the loop is meant for a run of the program, so the guest comes again.
            readiness.cancel()
            Self.guest = nil
            Self.invite()
        }

        private static func tellAboutOtherThread() {
            runloop__diagnostic_write(
                RUNLOOP__NEVER_RUN,
                """
                Tasks wait for RunLoop.main, and nobody runs it: the main dispatch queue has left the initial thread, as with \
                dispatchMain(). Call RunLoop.main.run() instead.
                """)
        }
    }

#endif
