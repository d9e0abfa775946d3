#if os(Linux)
package import RunLoopKit

/// A hosted run that the hosts of a thread share, such as GLib's loop and Foundation's: whichever of them runs lets it go on. Used on the
/// thread of the loop.
package final class SharedRun: HostedRunFollower {
    private let run: RunLoop.HostedRun
    private let mode: RunLoop.Mode
    private var hosts: [WeakHost] = []

    private struct WeakHost {
        weak var host: (any LoopHost)?
    }

    private init(inMode mode: RunLoop.Mode) throws {
        run = try RunLoop.HostedRun(mode: mode)
        self.mode = mode
        run.follower = self
    }

    /// The thread's innermost one, if hosts share that and it is what serves this mode now; else one that begins.
    fileprivate static func current(inMode mode: RunLoop.Mode) throws -> SharedRun {
        let loop = RunLoop.current
        if let innermost = loop.innermostHostedRun?.follower as? SharedRun, innermost.mode == mode,
            loop.currentMode == mode
        {
            return innermost
        }
        return try SharedRun(inMode: mode)
    }

    /// What a host waits for, for reading.
    package var fileDescriptor: CInt { run.fileDescriptor }

    /// Why the run is over, or `nil` while it goes on.
    fileprivate var result: RunLoop.RunResult? {
        if case .ended(let result) = run.status { result } else { nil }
    }

    /// Has a host notified of the end of the run, which has not ended. It leaves before it is freed.
    package func add(_ host: any LoopHost) {
        hosts.append(WeakHost(host: host))
    }

    /// With its last host the run ends, if it has not.
    package func remove(_ host: any LoopHost) {
        // A weak reference to a host that is being freed is already nil.
        hosts.removeAll { $0.host == nil || $0.host === host }
        if hosts.isEmpty { run.end() }
    }

    /// Goes on for as long as a host may be kept from its other work. A closure may have begun another run of its own, for a dialog: then
    /// that goes on.
    package func serve() {
        (run.innermostOfLoop ?? run).iterate(for: .milliseconds(1))
    }

    package func runHasEnded(_ result: RunLoop.RunResult) {
        let hosts = hosts
        self.hosts = []
        for host in hosts { host.host?.runHasEnded(result) }
    }
}

/// What lets a shared run go on. Used on the thread of the loop.
package protocol LoopHost: AnyObject {
    var share: RunLoop.HostShare { get set }
    /// The run is over, for this host at least: what lets it go on is given back. Called once.
    func detach()
}

extension RunLoop {
    /// A host's part in a shared run.
    package struct HostShare {
        package let run: SharedRun
        /// Why the run is over, or `nil` while it goes on.
        package fileprivate(set) var result: RunResult?
        fileprivate var onEnd: ((RunResult) -> Void)?

        /// - Parameter onEnd: Called if the run ends by itself later.
        package init(inMode mode: Mode, onEnd: ((RunResult) -> Void)?) throws {
            run = try .current(inMode: mode)
            result = run.result
            self.onEnd = result == nil ? onEnd : nil
        }
    }
}

extension LoopHost {
    /// The host leaves the run, and its `onEnd` is not called.
    package func leave() {
        if share.result != nil { return }
        share.run.remove(self)
        isOver(.stopped)
    }

    /// The run has ended by itself.
    fileprivate func runHasEnded(_ result: RunLoop.RunResult) {
        let onEnd = share.onEnd
        isOver(result)
        onEnd?(result)
    }

    private func isOver(_ result: RunLoop.RunResult) {
        share.result = result
        share.onEnd = nil
        detach()
    }
}
#endif
