extension RunLoop {
    /// Surrounds what the loop does between two sleeps: `open` is called when a run begins and after each look at whether to
    /// sleep, `close` before each sleep and when the run ends, with what `open` returned. What a pool of temporary objects, or
    /// a transaction that is committed once per iteration, is built from.
    ///
    /// `open` is called before all observers of `entry`, and `close` after all of `beforeWaiting` and `exit`, by order (the
    /// least and the greatest there are). A nested run in the mode has scopes of its own, inside the outer one. Added in the
    /// middle of an iteration, the first scope opens after it. Both closures are called on the loop's thread; runs that they
    /// nest have no scopes. The loop keeps the closures until the registration is cancelled or its thread ends.
    ///
    /// - Parameter mode: a mode, or all common ones.
    /// - Returns: the registration. Cancelling it closes the scopes that are open, on the loop's thread: at once there, from
    ///   another thread when the loop next performs closures, or ends. Dropping it cancels nothing.
    @discardableResult
    public func addIterationScope<Scope>(
        inMode mode: Mode = .common, open: sending @escaping () -> Scope, close: sending @escaping (Scope) -> Void
    ) -> Registration {
        let scopes = Scopes(open: open, close: close)
        let end = EndOfRegistration(Fate())
        let fate = end.fate
        let opener = Observer(.entry, order: .min) { _, _ in withExtendedLifetime(end) { scopes.enter() } }
        let closer = Observer([.beforeWaiting, .exit], order: .max) { _, activity in
            if activity == .exit { scopes.leave() } else { scopes.renew() }
        }
        add(opener, forMode: mode)
        add(closer, forMode: mode)
        return Registration(fate) { [core, weak opener, weak closer, weak scopes] in
            guard let opener, let closer, let scopes else { return }
            opener.invalidate()
            closer.invalidate()
            if core.isCurrent { return scopes.leaveAll() }
            _ = core.post([.common], atEnd: .perform) { scopes.leaveAll() }
        }
    }
}

/// The open scopes of a registration, the innermost last. Only the loop's thread touches them.
private final class Scopes<Scope>: @unchecked Sendable {
    private let open: () -> Scope
    private let close: (Scope) -> Void
    private var scopes: [Scope] = []
    /// One of the closures is running: what it nests would be told to one of the two observers only (R96).
    private var isBusy = false

    init(open: @escaping () -> Scope, close: @escaping (Scope) -> Void) {
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
