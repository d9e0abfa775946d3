extension RunLoop {
    /// Surrounds what the loop does between two sleeps. `open` is called when a run begins and at each `beforeWaiting`, right
    /// after `close`; `close` is called at each `beforeWaiting` and when the run ends, with the value that `open` returned. A pool
    /// of temporary objects, or a transaction that is committed once per iteration, is built from it.
    ///
    /// `open` is called before all observers of `entry`, and `close` after all of `beforeWaiting` and `exit`, since their orders
    /// are the least and the greatest. A nested run in the mode has scopes of its own, inside the outer one. If it is added in
    /// the middle of an iteration, the first scope opens at the next `beforeWaiting`. Both closures are called on the loop's thread; runs
    /// that are nested in them have no scopes. The loop keeps the closures until the registration is cancelled or its thread
    /// ends.
    ///
    /// - Parameter mode: a mode, or all common ones.
    /// - Returns: the registration. Cancelling it closes the open scopes, on the loop's thread: at once there, from another thread
    ///   when the loop next performs closures, or ends. Releasing it does not cancel it.
    @discardableResult
    public func addIterationScope<Scope>(
        inMode mode: Mode = .common, open: sending @escaping () -> Scope, close: sending @escaping (Scope) -> Void
    ) -> Registration {
        let scopes = Scopes(loop: self, open: open, close: close)
        let end = EndOfRegistration(RegistrationState())
        let state = end.state
        let opener = Observer(.entry, order: .min) { _, _ in withExtendedLifetime(end) { scopes.enter() } }
        let closer = Observer([.beforeWaiting, .exit], order: .max) { _, activity in
            if activity == .exit { scopes.leave() } else { scopes.renew() }
        }
        addUnlessOver(opener, forMode: mode)
        addUnlessOver(closer, forMode: mode)
        return Registration(state) { [weak opener, weak closer, weak scopes] in
            guard let opener, let closer, let scopes else { return }
            opener.invalidate()
            closer.invalidate()
            if scopes.loop.isCurrent { return scopes.leaveAll() }
            _ = scopes.loop.post(.common, atEnd: .perform) { scopes.leaveAll() }
        }
    }
}

/// The open scopes of a registration, the innermost last. Used by the loop's thread only.
private final class Scopes<Scope>: @unchecked Sendable {
    let loop: RunLoop
    private let open: () -> Scope
    private let close: (Scope) -> Void
    private var scopes: [Scope] = []
    /// One of the closures is running. Of a run nested in it, only one of the two observers would be notified (R96).
    private var isBusy = false

    init(loop: RunLoop, open: @escaping () -> Scope, close: @escaping (Scope) -> Void) {
        self.loop = loop
        self.open = open
        self.close = close
    }

    func enter() {
        unlessBusy { scopes.append(open()) }
    }

    func leave() {
        unlessBusy { if let scope = scopes.popLast() { close(scope) } }
    }

    func renew() {
        unlessBusy {
            if let scope = scopes.popLast() { close(scope) }
            scopes.append(open())
        }
    }

    func leaveAll() {
        while let scope = scopes.popLast() { close(scope) }
    }

    private func unlessBusy(_ body: () -> Void) {
        if isBusy { return }
        isBusy = true
        body()
        isBusy = false
    }
}
