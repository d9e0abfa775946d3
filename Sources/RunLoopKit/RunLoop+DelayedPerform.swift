extension RunLoop {
    /// Calls `body` once on the loop's thread, not before `delay` has passed, when the loop runs in one of `modes`.
    ///
    /// A timer that fires once: due in the past if `delay` is negative, up to `tolerance` later to share a wake-up. Any
    /// thread. The closure is freed after it ran, when it is cancelled, or unused when the loop's thread ends; the
    /// registration tells which. O(log timers) per mode.
    ///
    /// - Parameter modes: `.common` means any common mode. Without modes it never runs, and is freed at once.
    /// - Returns: the registration, to cancel it. Not needed for anything else: dropping it does not cancel. It is
    ///   `abandoned` if the loop's thread has ended already.
    @discardableResult
    public func perform(
        after delay: Duration, tolerance: Duration = .zero, inModes modes: Set<Mode> = [.default],
        _ body: sending @escaping () -> Void
    ) -> Registration {
        schedule(after: delay, tolerance, modes, nil, body)
    }

    /// As above, and can be cancelled by a key, too.
    ///
    ///     loop.perform(after: .milliseconds(300), key: "search") { search(text) }
    ///     loop.cancelPerforms(key: "search")
    ///
    /// A key is no slot: given twice, both closures are called. Who wants the last one only, cancels before.
    ///
    /// - Parameter key: compared as `AnyHashable` does, with the keys of this loop alone. On no thread in particular, and
    ///   with no lock held. Kept until the closure has run or will never run.
    /// - Returns: the registration, as above.
    @discardableResult
    public func perform(
        after delay: Duration, tolerance: Duration = .zero, inModes modes: Set<Mode> = [.default],
        key: some Hashable & Sendable, _ body: sending @escaping () -> Void
    ) -> Registration {
        schedule(after: delay, tolerance, modes, RegistrationKey(key), body)
    }

    /// Cancels every delayed closure that was given to the loop under that key and has not begun: they are freed, and will
    /// not be called. Does not wait for one that runs on another thread right now (R119); in a closure of that key, the
    /// others are cancelled. What is given under the key by another thread meanwhile may escape. Any thread. O(1), and
    /// O(log timers) for each.
    ///
    /// - Returns: how many it cancelled.
    @discardableResult
    public func cancelPerforms(key: some Hashable & Sendable) -> Int {
        keyed.registrations(RegistrationKey(key)).count { $0.callOff() }
    }

    fileprivate func schedule(
        after delay: Duration, _ tolerance: Duration, _ modes: Set<Mode>, _ key: RegistrationKey?,
        _ body: sending @escaping () -> Void
    ) -> Registration {
        let fate = Fate()
        var forget: (@Sendable () -> Void)?
        if let hash = key?.hash { forget = { [keyed] in keyed.remove(fate, hash: hash) } }
        let end = EndOfRegistration(fate, forget)
        let fireDate = Nanoseconds.fromNow(Nanoseconds.of(delay))
        let timer = TimerCore(fireDate: fireDate, tolerance: Nanoseconds.of(tolerance)) {
            if end.fate.settle(.done) { body() }
        }
        let registration = Registration(fate, timer)
        if let key { keyed.add(registration, fate, key) }
        var isWaiting = false
        for mode in modes where didJoin(core.add(timer, mode.name)) { isWaiting = true }
        // Nobody has it then, and so nobody would let go of the closure.
        if !isWaiting { timer.invalidate() }
        return registration
    }
}

extension RunLoop.Thread {
    /// Calls `body` once on the thread, not before `delay` has passed. As `RunLoop.perform(after:)`: unlike what is given
    /// without a delay, it is never called if the thread ends first.
    ///
    /// - Parameter modes: in which modes of the loop; as long as nobody nests runs there, it runs in the default mode.
    @discardableResult
    public func perform(
        after delay: Duration, tolerance: Duration = .zero, inModes modes: Set<RunLoop.Mode> = [.common],
        _ body: sending @escaping () -> Void
    ) -> RunLoop.Registration {
        loop.schedule(after: delay, tolerance, modes, nil, body)
    }

    /// As above, and can be cancelled by a key, too: by `cancelPerforms(key:)` of the thread's loop, or of the thread.
    @discardableResult
    public func perform(
        after delay: Duration, tolerance: Duration = .zero, inModes modes: Set<RunLoop.Mode> = [.common],
        key: some Hashable & Sendable, _ body: sending @escaping () -> Void
    ) -> RunLoop.Registration {
        loop.schedule(after: delay, tolerance, modes, RegistrationKey(key), body)
    }

    /// Cancels every delayed closure that was given to the thread or its loop under that key. As
    /// `RunLoop.cancelPerforms(key:)`.
    @discardableResult
    public func cancelPerforms(key: some Hashable & Sendable) -> Int { loop.cancelPerforms(key: key) }
}
