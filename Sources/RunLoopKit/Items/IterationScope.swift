#if os(Linux)
extension RunLoop {
    /// Surrounds what a loop does between two sleeps. `open` is called when a run begins and at each `beforeWaiting`, right after `close`;
    /// `close` is called at each `beforeWaiting` and when the run ends, with the value that `open` returned. A pool of temporary objects, or a
    /// transaction that is committed once per iteration, is built from it.
    ///
    ///     let clock = ContinuousClock()
    ///     let scope = RunLoop.IterationScope(on: loop) {
    ///         clock.now
    ///     } close: { begin in
    ///         print("was busy for", clock.now - begin)
    ///     }
    ///     loop.run(mode: .default, for: .seconds(10))
    ///     scope.invalidate()
    ///
    /// `open` is called before all observers of `entry`, and `close` after all of `beforeWaiting` and `exit`, since their orders
    /// are the least and the greatest. A nested run in the mode has scopes of its own, inside the outer one. If it is made in
    /// the middle of an iteration, the first scope opens at the next `beforeWaiting`. Both closures are called on the loop's thread; runs
    /// that are nested in them have no scopes.
    ///
    /// It lasts until `invalidate()`, and no longer than this object.
    public final class IterationScope: Sendable {
        private let loop: RunLoop
        // The loop keeps these until they are invalid, or its thread has ended, and they keep the closures.
        private weak let opener: Observer?
        private weak let closer: Observer?
        private weak let scopes: (any OpenScopes)?

        /// Begins to surround the iterations of a loop. Any thread. O(observers) per mode.
        ///
        /// - Parameters:
        ///   - loop: the loop. If its thread has ended, nothing is ever called.
        ///   - mode: a mode, or all common ones.
        public init<Scope>(
            on loop: RunLoop, inMode mode: Mode = .common, open: sending @escaping () -> Scope,
            close: sending @escaping (Scope) -> Void
        ) {
            let scopes = Scopes(open: open, close: close)
            let opener = Observer(.entry, order: .min) { _, _ in scopes.enter() }
            let closer = Observer([.beforeWaiting, .exit], order: .max) { _, activity in
                if activity == .exit { scopes.leave() } else { scopes.renew() }
            }
            (self.loop, self.opener, self.closer, self.scopes) = (loop, opener, closer, scopes)
            loop.addUnlessOver(opener, forMode: mode)
            loop.addUnlessOver(closer, forMode: mode)
        }

        deinit {
            invalidate()
        }

        /// Ends it, and closes the open scopes on the loop's thread: at once there, from another thread when the loop next performs
        /// closures, or ends. A second call has no effect. Any thread. O(modes).
        public func invalidate() {
            let scopes = scopes
            opener?.invalidate()
            closer?.invalidate()
            guard let scopes else { return }
            if loop.isCurrent { return scopes.leaveAll() }
            _ = loop.post(.common, atEnd: .perform) { scopes.leaveAll() }
        }
    }
}

private protocol OpenScopes: AnyObject, Sendable {
    /// On the loop's thread.
    func leaveAll()
}

/// The open scopes, the innermost last. Used by the loop's thread only, hence Sendable.
private final class Scopes<Scope>: OpenScopes, @unchecked Sendable {
    private let open: () -> Scope
    private let close: (Scope) -> Void
    private var scopes: [Scope] = []
    /// One of the closures is running. Of a run nested in it, only one of the two observers would be notified (R96).
    private var isBusy = false
    /// Nothing is opened any more.
    private var isOver = false

    init(open: @escaping () -> Scope, close: @escaping (Scope) -> Void) {
        self.open = open
        self.close = close
    }

    func enter() {
        unlessBusy { begin() }
    }

    func leave() {
        unlessBusy { end() }
    }

    func renew() {
        unlessBusy {
            end()
            begin()
        }
    }

    func leaveAll() {
        isOver = true
        while !scopes.isEmpty { end() }
    }

    private func begin() {
        if isOver { return }
        scopes.append(open())
        // `open` may have ended it, when there was no scope to close yet.
        if isOver { end() }
    }

    private func end() {
        if let scope = scopes.popLast() { close(scope) }
    }

    private func unlessBusy(_ body: () -> Void) {
        if isBusy { return }
        isBusy = true
        body()
        isBusy = false
    }
}
#endif
