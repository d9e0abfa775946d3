extension RunLoop {
    /// Calls `body` once on the loop's thread, not before `delay` has passed, when the loop runs in one of `modes`.
    ///
    /// It is a timer that fires once: at once if `delay` is negative, up to `tolerance` later to share a wake-up. Any thread.
    /// The closure is freed after its call, when it is cancelled, or when the loop's thread ends; the registration tells
    /// which. O(log timers) per mode.
    ///
    /// - Parameter modes: `.common`, the default, means any common mode. With no modes the closure is never called, and freed at once.
    /// - Returns: the registration, which can cancel it. Releasing the registration does not cancel. Its state is `abandoned`
    ///   if the loop's thread has ended already.
    @discardableResult
    public func perform(
        after delay: Duration, tolerance: Duration = .zero, inModes modes: Set<Mode> = [.common],
        _ body: sending @escaping () -> Void
    ) -> Registration {
        schedule(after: delay, tolerance, modes, nil, body)
    }

    /// As above, and can also be cancelled by a key.
    ///
    ///     loop.perform(after: .milliseconds(300), key: "search") { search(text) }
    ///     loop.cancelPerforms(key: "search")
    ///
    /// Several closures may have the same key, and all of them are called. To have only the last one called, cancel first.
    ///
    /// - Parameter key: compared as `AnyHashable` does, with the keys of this loop alone, on any thread and with no lock held.
    ///   It is kept until the closure has been called or never will be.
    /// - Returns: the registration, as without a key.
    @discardableResult
    public func perform(
        after delay: Duration, tolerance: Duration = .zero, inModes modes: Set<Mode> = [.common],
        key: some Hashable & Sendable, _ body: sending @escaping () -> Void
    ) -> Registration {
        schedule(after: delay, tolerance, modes, RegistrationKey(key), body)
    }

    /// Cancels every delayed closure of the loop that has the key and has not begun. The closures are freed and will not be
    /// called. Does not wait for a call that is running on another thread (R119). In a closure with that key, the others are
    /// cancelled. A closure that another thread performs with the key at the same time may be missed. Any thread. O(1), and
    /// O(log timers) for each.
    ///
    /// - Returns: how many were cancelled.
    @discardableResult
    public func cancelPerforms(key: some Hashable & Sendable) -> Int {
        keyed.registrations(RegistrationKey(key)).count { $0.cancelIfActive() }
    }

    fileprivate func schedule(
        after delay: Duration, _ tolerance: Duration, _ modes: Set<Mode>, _ key: RegistrationKey?,
        _ body: sending @escaping () -> Void
    ) -> Registration {
        let state = RegistrationState()
        var removeKey: (@Sendable () -> Void)?
        if let hash = key?.hash { removeKey = { [keyed] in keyed.remove(state, hash: hash) } }
        let end = EndOfRegistration(state, removeKey)
        let fireDate = Nanoseconds.fromNow(of: core, Nanoseconds.of(delay))
        let timer = ClosureTimer(fireDate: fireDate, tolerance: Nanoseconds.of(tolerance)) {
            if end.state.settle(.done) { body() }
        }
        let registration = Registration(state, timer)
        if let key { keyed.add(registration, state, key) }
        registration.start(in: modes, of: self)
        return registration
    }
}

extension RunLoop.Thread {
    /// Calls `body` once on the thread, not before `delay` has passed. As `RunLoop.perform(after:)`: unlike a closure that is
    /// performed without a delay, it is not called if the thread ends first.
    ///
    /// - Parameter modes: in which modes of the loop. The thread runs its loop in the default mode; nested runs may use others.
    @discardableResult
    public func perform(
        after delay: Duration, tolerance: Duration = .zero, inModes modes: Set<RunLoop.Mode> = [.common],
        _ body: sending @escaping () -> Void
    ) -> RunLoop.Registration {
        loop.schedule(after: delay, tolerance, modes, nil, body)
    }

    /// As above, and can also be cancelled by a key, with `cancelPerforms(key:)` of the thread's loop or of the thread.
    @discardableResult
    public func perform(
        after delay: Duration, tolerance: Duration = .zero, inModes modes: Set<RunLoop.Mode> = [.common],
        key: some Hashable & Sendable, _ body: sending @escaping () -> Void
    ) -> RunLoop.Registration {
        loop.schedule(after: delay, tolerance, modes, RegistrationKey(key), body)
    }

    /// Cancels every delayed closure of the thread or its loop that has the key. As `RunLoop.cancelPerforms(key:)`.
    @discardableResult
    public func cancelPerforms(key: some Hashable & Sendable) -> Int { loop.cancelPerforms(key: key) }
}
