extension RunLoop {
    /// A hosted run that the hosts of a thread share, such as GLib's loop and Foundation's: whichever of them runs lets it go on. On the
    /// thread of the loop only, as with `HostedRun`.
    package final class SharedRun {
        private let run: HostedRun
        private let mode: Mode
        private var hosts: [WeakHost] = []

        private struct WeakHost {
            weak var host: (any LoopHost)?
        }

        package var fileDescriptor: CInt { run.fileDescriptor }

        /// Why the run is over, or `nil` while it goes on.
        package var result: RunResult? {
            if case .ended(let result) = run.status { result } else { nil }
        }

        /// The thread's innermost hosted run, if hosts share that and it is what serves this mode now; else one that begins.
        package static func inMode(_ mode: Mode) throws(Error) -> SharedRun {
            let loop = RunLoop.current
            let innermost = loop.hostedRun?.takeUnretainedValue()
            if let shared = innermost?.shared, shared.mode == mode, loop.currentMode == mode { return shared }
            return try SharedRun(mode)
        }

        private init(_ mode: Mode) throws(Error) {
            self.mode = mode
            run = try HostedRun(mode: mode)
            run.shared = self
        }

        /// Has a host notified of the end of the run, which has not ended. It leaves before it is freed.
        package func add(_ host: any LoopHost) {
            hosts.append(WeakHost(host: host))
        }

        /// With its last host the run ends, if it has not.
        package func remove(_ host: any LoopHost) {
            // A host that is being freed is none already.
            hosts.removeAll { $0.host == nil || $0.host === host }
            if hosts.isEmpty { run.end() }
        }

        /// Goes on for as long as a host may be kept from its other work. A closure may have begun another run of its own, for a dialog: then
        /// that goes on.
        package func serve() {
            run.iterateInnermost(for: .milliseconds(1))
        }

        func hasEnded(_ result: RunResult) {
            let hosts = hosts
            self.hosts = []
            for host in hosts { host.host?.runHasEnded(result) }
        }
    }
}

/// What lets a shared run go on.
package protocol LoopHost: AnyObject {
    /// The shared run has ended by itself. Called once, on the thread of the loop.
    func runHasEnded(_ result: RunLoop.RunResult)
}
