#if os(Linux)
/// A hosted run that the hosts of a thread share, such as GLib's loop and Foundation's: whichever of them runs lets it go on.
extension RunLoop.HostedRun {
    struct WeakHost {
        weak var host: (any LoopHost)?
    }

    /// Why the run is over, or `nil` while it goes on.
    package var result: RunLoop.RunResult? {
        if case .ended(let result) = status { result } else { nil }
    }

    /// The thread's innermost one, if hosts share that and it is what serves this mode now; else one that begins.
    fileprivate static func shared(inMode mode: RunLoop.Mode) throws -> RunLoop.HostedRun {
        let loop = RunLoop.current
        let innermost = unsafe loop.hostedRun?.takeUnretainedValue()
        if let innermost, innermost.modeOfHosts == mode, loop.currentMode == mode { return innermost }
        let run = try RunLoop.HostedRun(mode: mode)
        run.modeOfHosts = mode
        return run
    }

    /// Has a host notified of the end of the run, which has not ended. It leaves before it is freed.
    package func add(_ host: any LoopHost) {
        hosts.append(WeakHost(host: host))
    }

    /// With its last host the run ends, if it has not.
    package func remove(_ host: any LoopHost) {
        // A host that is being freed is none already.
        hosts.removeAll { $0.host == nil || $0.host === host }
        if hosts.isEmpty { end() }
    }

    /// Goes on for as long as a host may be kept from its other work. A closure may have begun another run of its own, for a dialog: then
    /// that goes on.
    package func serve() {
        checkThread()
        unsafe (loop.hostedRun?.takeUnretainedValue() ?? self).iterate(for: .milliseconds(1))
    }

    func tellHosts(_ result: RunLoop.RunResult) {
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
        package let run: HostedRun
        /// Why the run is over, or `nil` while it goes on.
        package fileprivate(set) var result: RunResult?
        fileprivate var onEnd: ((RunResult) -> Void)?

        /// - Parameter onEnd: Called if the run ends by itself later.
        package init(inMode mode: Mode, onEnd: ((RunResult) -> Void)?) throws {
            run = try .shared(inMode: mode)
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
