#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopOverlay

extension RunLoop {
    /// A run of the calling thread's loop whose sleep is another loop's: that of GTK, Qt, SDL or a game engine, which owns the
    /// thread. The host waits for one descriptor, and lets the run go on when that is readable.
    ///
    ///     let run = try RunLoop.HostedRun()
    ///     while true {  // in place of the host's own loop
    ///         if case .ended = run.status { break }
    ///         var waited = pollfd(
    ///             fd: run.fileDescriptor, events: Int16(POLLIN), revents: 0)
    ///         if poll(&waited, 1, -1) == 1 { run.iterate(for: .milliseconds(1)) }
    ///     }
    ///
    /// There is no timeout to compute: timers, closures performed on any thread, stops, descriptors, the main dispatch queue and
    /// the main actor all make the descriptor readable. While there is nothing to do, nobody is woken. Observers are notified as
    /// in any run; between `beforeWaiting` and `afterWaiting` the thread is the host's.
    ///
    /// On the thread of the loop only: anything else is a precondition failure. Hosted runs nest; the last one ends first, and one that
    /// began in a closure of the loop ends before that returns. The host may run its own loop in such a closure, for a modal
    /// dialog: `iterate(for:)` then serves the mode that runs, in a nested run that ends with the closure.
    @safe public final class HostedRun {
        /// What a hosted run does next.
        ///
        ///     let run = try RunLoop.HostedRun()
        ///     while run.iterate(for: .milliseconds(4)) == .hasMore {
        ///         window.draw()
        ///     }
        ///     run.end()
        public enum Status: Hashable, Sendable {
            /// There is nothing to do until the descriptor is readable.
            case waiting
            /// There is more to do, and the descriptor is readable.
            case hasMore
            /// The run is over, and its observers have seen the exit.
            case ended(RunResult)
        }

        /// What the host waits for, for reading, by `poll` or `epoll`, level- or edge-triggered. The same for every hosted run of the
        /// loop, to which it belongs: do not read or close it.
        public let fileDescriptor: CInt

        /// What the last iteration has found: more to do, nothing, or the end of the run.
        public private(set) var status: Status

        let loop: RunLoop
        /// The run in which this one began. It ends later (a precondition), so it is alive.
        @safe private let outer: Unmanaged<HostedRun>?
        /// Notified when the run has ended by itself, before `iterate` returns. On the thread of the loop.
        package weak var follower: (any HostedRunFollower)?

        /// Begins a run of the calling thread's loop in `mode`: its observers see the entry. A run of an empty mode has ended at once
        /// with `finished`, and nobody is notified; one that a remembered stop ends, with `stopped`. The main loop's default mode
        /// is never empty. O(1).
        ///
        /// - Throws: `tooManyDescriptors`, `outOfMemory`; `loopFinished` if the loop's thread is ending.
        @available(*, noasync, message: "A task may continue on another thread, whose loop is another one.")
        public init(mode: Mode = .default) throws {
            loop = .current
            outer = unsafe loop.hostedRun
            (fileDescriptor, status) = try Self.begin { unsafe runloop_hosted_begin(mode.name) }
            if status == .hasMore { unsafe loop.hostedRun = Unmanaged.passUnretained(self) }
        }

        /// A run of ``RunLoop/main`` in the default mode, whose host is whatever serves the main dispatch queue.
        @available(*, noasync)
        package init(ofMainQueue: Void) throws(Error) {
            loop = .current
            outer = unsafe loop.hostedRun
            (fileDescriptor, status) = try Self.begin(runloop__hosted_begin_as_guest)
            if status == .hasMore { unsafe loop.hostedRun = Unmanaged.passUnretained(self) }
        }

        private static func begin(_ begin: () -> CInt) throws(Error) -> (CInt, Status) {
            let fileDescriptor = runloop_hosted_descriptor()
            if fileDescriptor < 0 { throw Error(result: fileDescriptor) }
            let result = begin()
            if result < 0 { throw Error(result: result, of: .clock) }
            return (fileDescriptor, RunResult(rawValue: result).map { .ended($0) } ?? .hasMore)
        }

        /// Goes on until there is nothing to do, the run has ended, or `budget` is used up: `nil` is no limit, and zero or less a
        /// single iteration. A closure that runs when the budget ends is not interrupted. O(what there is to do).
        @discardableResult
        public func iterate(for budget: Duration? = nil) -> Status {
            checkThread()
            if case .ended = status { return status }
            checkOrder()
            let result = runloop_hosted_iterate(budget.map { max(0, Nanoseconds.of($0)) } ?? Nanoseconds.never)
            // A nested call, from a closure, may have found the end.
            if case .ended = status { return status }
            switch -result {
            case 0: status = .waiting
            case ErrorNumber.tryAgain: status = .hasMore
            default:
                let result = RunResult(rawValue: result) ?? .finished
                hasEnded(result)
                follower?.runHasEnded(result)
            }
            return status
        }

        /// Ends the run, between its iterations: its observers see the exit. Does nothing if it has ended. In a closure that the run
        /// itself calls it is a precondition failure: use ``RunLoop/stop(inMode:remembered:)`` there. Releasing the run ends it as well.
        public func end() {
            checkThread()
            if case .ended = status { return }
            checkOrder()
            let result = runloop_hosted_end()
            // A thread that ends has ended its runs before it releases what it has.
            precondition(
                result == 0 || result == -ErrorNumber.invalid,
                "A hosted run cannot be ended in its own closures; stop the loop there.")
            hasEnded(.stopped)
        }

        deinit {
            if case .ended = status { return }
            end()
        }

        private func hasEnded(_ result: RunResult) {
            status = .ended(result)
            unsafe loop.hostedRun = outer
        }

        private func checkThread() {
            precondition(loop.isCurrent, "A hosted run is used, and released, on the thread of its loop.")
        }

        private func checkOrder() {
            precondition(isInnermost, "Of nested hosted runs the last one is used, and ends, first.")
        }

        /// Has none begun in this one, or have those that did ended? On the thread of the loop.
        package var isInnermost: Bool { loop.innermostHostedRun === self }

        /// The innermost one of the loop, which may be this one. `nil` if all have ended. On the thread of the loop.
        package var innermostOfLoop: HostedRun? {
            checkThread()
            return loop.innermostHostedRun
        }
    }

    /// On the thread of the loop.
    package var innermostHostedRun: HostedRun? { unsafe hostedRun?.takeUnretainedValue() }

    /// The main dispatch queue, and with it the main actor, for a program that needs no run loop on its main thread, whose loop is
    /// another one's: the host waits for the descriptor there, and serves the queue when that is readable. A hosted run of
    /// ``RunLoop/main`` does so by itself.
    ///
    ///     // In place of the host's own loop, on the initial thread.
    ///     @MainActor func serveQueue() {
    ///         guard let queue = RunLoop.MainQueue.fileDescriptor else { return }
    ///         var waited = pollfd(fd: queue, events: Int16(POLLIN), revents: 0)
    ///         while poll(&waited, 1, -1) >= 0 {
    ///             // What waits for DispatchQueue.main and the main actor.
    ///             RunLoop.MainQueue.serve()
    ///         }
    ///     }
    public enum MainQueue {
        /// What the host waits for, for reading. It belongs to the dispatch library. `nil` if that is not in the process. O(1).
        public static var fileDescriptor: CInt? {
            let descriptor = runloop_main_queue_descriptor()
            return descriptor < 0 ? nil : descriptor
        }

        /// Performs what the queue has; was there anything? `false` inside its own work. O(what it has).
        @MainActor @discardableResult
        public static func serve() -> Bool { runloop_main_queue_serve() == 1 }
    }
}

/// Used on the thread of a loop that has hosted runs.
package protocol HostedRunFollower: AnyObject {
    func runHasEnded(_ result: RunLoop.RunResult)
}
#endif
