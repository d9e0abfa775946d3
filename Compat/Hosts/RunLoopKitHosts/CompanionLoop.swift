#if os(Linux)
internal import RunLoopKit
package import RunLoopKitCLibrary

/// Another loop of the thread, Foundation's, which does not say what it waits for. Its host therefore sleeps in it: the
/// host says what it would wait for itself.
package protocol CompanionLoop: AnyObject {
    /// Serves the loop until it has nothing to do, or for about a millisecond. In place of the sleep that follows, it asks the host
    /// what that would wait for, if it is to sleep: then it waits for that and for its own work, and serves the latter. Returns whether there is
    /// more to do. The host calls it where anything may be called.
    func serve(sleepingFor wait: (() -> HostWait?)?) -> Bool
}

/// What a host would wait for: descriptors, as `poll` has them, and a timeout in milliseconds, without one if it is negative.
package struct HostWait {
    package var descriptors: [pollfd]
    package var timeout: CInt

    package init(descriptors: [pollfd], timeout: CInt) {
        self.descriptors = descriptors
        self.timeout = timeout
    }
}

/// The companion of a thread's loop, and the hosts that serve it. They may come and go in any order, on that thread.
package final class Companionship {
    private var hosts: [WeakHost] = []

    private struct WeakHost {
        weak var host: (any CompanionsHost)?
    }

    package weak var loop: (any CompanionLoop)? {
        didSet { for host in hosts { host.host?.companionHasChanged() } }
    }

    /// That of the calling thread's loop.
    package static var current: Companionship { unsafe LoopRegistry().object(of: .current) { Companionship() } }

    /// Has a host notified of each change, beginning with what is there.
    package func add(_ host: any CompanionsHost) {
        hosts.removeAll { $0.host == nil }
        hosts.append(WeakHost(host: host))
        host.companionHasChanged()
    }
}

package protocol CompanionsHost: AnyObject {
    func companionHasChanged()
}
#endif
