// Items and performed closures that are isolated to the main actor, so that they can use its state. `RunLoop.main` is the only loop on the main
// actor's thread, so only that loop may have them. The isolation is checked in each call too, which costs a tenth of a
// microsecond: the check of the addition alone would not be enough.
//
// The initializers take the actor as an argument, which is not used. The compiler cannot tell apart two initializers that differ
// only in the isolation of their closures.

extension RunLoop.Timer {
    /// Makes a timer whose action is isolated to the main actor, in no loop yet.
    ///
    ///     let timer = RunLoop.Timer(isolation: .shared, every: .seconds(1)) { [weak self] _ in self?.count += 1 }
    ///     try RunLoop.main.add(timer, forMode: .common)
    ///
    /// Only `RunLoop.main` may have it: adding it to another loop is a precondition failure. Otherwise the same as without
    /// `isolation`.
    public convenience init(
        isolation: MainActor, at date: RunLoop.Instant, every interval: Duration? = nil, tolerance: Duration = .zero,
        order: Int = 0, _ action: @escaping @MainActor (RunLoop.Timer) -> Void
    ) {
        self.init(
            fireDate: Nanoseconds.of(date), interval: interval.map(Self.checked) ?? 0,
            tolerance: Nanoseconds.of(tolerance), order: order, home: .main
        ) { timer in MainActor.assumeIsolated { action(timer) } }
    }

    /// Makes a timer that fires again and again, for the first time after one interval. As above.
    public convenience init(
        isolation: MainActor, every interval: Duration, tolerance: Duration = .zero, order: Int = 0,
        _ action: @escaping @MainActor (RunLoop.Timer) -> Void
    ) {
        self.init(isolation: isolation, after: interval, every: interval, tolerance: tolerance, order: order, action)
    }

    /// Makes a timer that fires once, not before `delay` has passed. As above.
    public convenience init(
        isolation: MainActor, after delay: Duration, tolerance: Duration = .zero, order: Int = 0,
        _ action: @escaping @MainActor (RunLoop.Timer) -> Void
    ) {
        self.init(
            fireDate: Nanoseconds.fromNow(Nanoseconds.of(delay)), interval: 0, tolerance: Nanoseconds.of(tolerance),
            order: order, home: .main
        ) { timer in MainActor.assumeIsolated { action(timer) } }
    }

    /// Makes a timer that fires again and again, for the first time when `delay` has passed. As above.
    public convenience init(
        isolation: MainActor, after delay: Duration, every interval: Duration, tolerance: Duration = .zero,
        order: Int = 0, _ action: @escaping @MainActor (RunLoop.Timer) -> Void
    ) {
        self.init(
            fireDate: Nanoseconds.fromNow(Nanoseconds.of(delay)), interval: Self.checked(interval),
            tolerance: Nanoseconds.of(tolerance), order: order, home: .main
        ) { timer in MainActor.assumeIsolated { action(timer) } }
    }
}

extension RunLoop.Timeout {
    /// Starts a timeout on `RunLoop.main` whose action is isolated to the main actor. Otherwise the same as with a loop.
    ///
    ///     idle = RunLoop.Timeout(isolation: .shared, after: .seconds(30)) { [self] in close() }
    public init(
        isolation: MainActor, after delay: Duration, tolerance: Duration = .zero, inMode mode: RunLoop.Mode = .common,
        fileID: StaticString = #fileID, line: UInt = #line, _ action: @escaping @MainActor () -> Void
    ) {
        self.init(on: .main, after: delay, tolerance: tolerance, inMode: mode, fileID: fileID, line: line) {
            MainActor.assumeIsolated { action() }
        }
    }
}

extension RunLoop.Source {
    /// Makes a source that is signalled by hand, whose closure is isolated to the main actor, in no loop yet. Only `RunLoop.main`
    /// may have it: adding it to another loop is a precondition failure. Any thread may signal it, as without `isolation`.
    public convenience init(isolation: MainActor, order: Int = 0, perform: @escaping @MainActor () -> Void) {
        self.init(order: order) { MainActor.assumeIsolated { perform() } }
        home = .main
    }

    /// Makes a source that is driven by a descriptor, whose closure is isolated to the main actor, in no loop yet. Only
    /// `RunLoop.main` may have it: adding it to another loop is a precondition failure. Otherwise the same as without `isolation`.
    ///
    /// - Throws: `invalid` without or with unknown conditions, and for a descriptor below −1.
    public convenience init(
        isolation: MainActor, fileDescriptor: CInt, events: Readiness = .read, order: Int = 0,
        perform: @escaping @MainActor (Readiness) -> Void
    ) throws(RunLoop.Error) {
        try self.init(fileDescriptor: fileDescriptor, events: events, order: order) { events in
            MainActor.assumeIsolated { perform(events) }
        }
        home = .main
    }
}

extension RunLoop.Observer {
    /// Makes an observer whose action is isolated to the main actor, in no loop yet. Only `RunLoop.main` may have it: adding it to
    /// another loop is a precondition failure. Otherwise the same as without `isolation`.
    public convenience init(
        isolation: MainActor, _ activities: Activities, repeats: Bool = true, order: Int = 0,
        _ action: @escaping @MainActor (RunLoop.Observer, Activities) -> Void
    ) {
        self.init(activities, repeats: repeats, order: order) { observer, activity in
            MainActor.assumeIsolated { action(observer, activity) }
        }
        home = .main
    }
}

extension RunLoop.CoalescedWork {
    /// Makes work for `RunLoop.main` that is isolated to the main actor, not marked. Otherwise the same as with a loop.
    public convenience init(
        isolation: MainActor, inMode mode: RunLoop.Mode = .common, order: Int = 0,
        _ body: @escaping @MainActor () -> Void
    ) {
        self.init(on: .main, inMode: mode, order: order) { MainActor.assumeIsolated { body() } }
    }
}

extension RunLoop {
    /// Calls `body`, which is isolated to the main actor, once on the main actor's thread, when `RunLoop.main` runs in one of
    /// `modes`, and wakes the loop for it.
    ///
    ///     RunLoop.main.perform(isolation: .shared) { [weak self] in self?.count += 1 }
    ///
    /// Of `RunLoop.main` only; for another loop it is a precondition failure. In the order of performed closures, which tasks of the
    /// main actor do not keep. Otherwise the same as without `isolation`. To wait for a value, call `MainActor.run`.
    ///
    /// - Returns: as without `isolation`.
    @discardableResult
    public func perform(
        isolation: MainActor, inModes modes: Set<Mode> = [.common], _ body: @escaping @MainActor () -> Void
    ) -> Bool {
        checkHome(.main)
        return perform(inModes: modes) { MainActor.assumeIsolated { body() } }
    }

    /// Calls `body`, which is isolated to the main actor, not before `delay` has passed. Of `RunLoop.main` only, as above; otherwise
    /// the same as without `isolation`.
    @discardableResult
    public func perform(
        isolation: MainActor, after delay: Duration, tolerance: Duration = .zero, inModes modes: Set<Mode> = [.common],
        _ body: @escaping @MainActor () -> Void
    ) -> Registration {
        checkHome(.main)
        return perform(after: delay, tolerance: tolerance, inModes: modes) { MainActor.assumeIsolated { body() } }
    }

    /// As above, and can also be cancelled by a key.
    @discardableResult
    public func perform(
        isolation: MainActor, after delay: Duration, tolerance: Duration = .zero, inModes modes: Set<Mode> = [.common],
        key: some Hashable & Sendable, _ body: @escaping @MainActor () -> Void
    ) -> Registration {
        checkHome(.main)
        return perform(after: delay, tolerance: tolerance, inModes: modes, key: key) {
            MainActor.assumeIsolated { body() }
        }
    }

    /// Which loop may have an item or a closure: one that is isolated to an actor, the actor's loop only.
    @usableFromInline
    package enum Home: Sendable {
        case any
        /// Asked for when the item is added: a forked child has another main loop than its parent process.
        case main
        case loop(RunLoop)
    }

    /// Fails if this is another loop.
    package func checkHome(_ home: Home) {
        let isHome =
            switch home {
            case .any: true
            case .main: self == .main
            case .loop(let loop): self == loop
            }
        precondition(
            isHome,
            "What is isolated to an actor is for the loop of that actor only: for the main actor, RunLoop.main.")
    }
}
