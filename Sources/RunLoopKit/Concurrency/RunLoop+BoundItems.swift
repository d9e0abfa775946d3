// Timers and sources whose closures are isolated to an actor that is bound to a loop. The closure has the actor as an argument, and the
// item does not keep it. The isolation is checked in each call, as for the main actor.

extension RunLoop.Timer {
    /// Makes a timer whose action is isolated to an actor that is bound to a loop, in no loop yet.
    ///
    ///     actor Device: RunLoop.BoundActor {
    ///         nonisolated let loop: RunLoop
    ///         private var ticks = 0
    ///         init(on loop: RunLoop) { self.loop = loop }
    ///
    ///         func begin() throws {
    ///             let timer = RunLoop.Timer(isolatedTo: self, every: .seconds(1)) { device, _ in device.ticks += 1 }
    ///             try loop.add(timer, forMode: .common)
    ///         }
    ///     }
    ///
    /// Only the actor's loop may have it: adding it to another loop is a precondition failure. The timer does not keep the actor; when
    /// it is due and the actor is gone, it becomes invalid. Otherwise the same as without `isolatedTo`.
    public convenience init<Owner: RunLoop.BoundActor>(
        isolatedTo owner: Owner, at date: RunLoop.Instant, every interval: Duration? = nil, tolerance: Duration = .zero,
        order: Int = 0, _ action: @escaping @Sendable (isolated Owner, RunLoop.Timer) -> Void
    ) {
        self.init(
            isolatedTo: owner, fireDate: Nanoseconds.of(date), interval: interval.map(Self.checked) ?? 0,
            tolerance: tolerance, order: order, action)
    }

    /// Makes a timer that fires again and again, for the first time after one interval. As above.
    public convenience init<Owner: RunLoop.BoundActor>(
        isolatedTo owner: Owner, every interval: Duration, tolerance: Duration = .zero, order: Int = 0,
        _ action: @escaping @Sendable (isolated Owner, RunLoop.Timer) -> Void
    ) {
        self.init(
            isolatedTo: owner, after: interval, every: interval, tolerance: tolerance, order: order, action)
    }

    /// Makes a timer that fires once, not before `delay` has passed. As above.
    public convenience init<Owner: RunLoop.BoundActor>(
        isolatedTo owner: Owner, after delay: Duration, tolerance: Duration = .zero, order: Int = 0,
        _ action: @escaping @Sendable (isolated Owner, RunLoop.Timer) -> Void
    ) {
        self.init(
            isolatedTo: owner, fireDate: Nanoseconds.fromNow(Nanoseconds.of(delay)), interval: 0, tolerance: tolerance,
            order: order, action)
    }

    /// Makes a timer that fires again and again, for the first time when `delay` has passed. As above.
    public convenience init<Owner: RunLoop.BoundActor>(
        isolatedTo owner: Owner, after delay: Duration, every interval: Duration, tolerance: Duration = .zero,
        order: Int = 0, _ action: @escaping @Sendable (isolated Owner, RunLoop.Timer) -> Void
    ) {
        self.init(
            isolatedTo: owner, fireDate: Nanoseconds.fromNow(Nanoseconds.of(delay)), interval: Self.checked(interval),
            tolerance: tolerance, order: order, action)
    }

    private convenience init<Owner: RunLoop.BoundActor>(
        isolatedTo owner: Owner, fireDate: Int64, interval: Int64, tolerance: Duration, order: Int,
        _ action: @escaping @Sendable (isolated Owner, RunLoop.Timer) -> Void
    ) {
        self.init(
            fireDate: fireDate, interval: interval, tolerance: Nanoseconds.of(tolerance), order: order,
            home: .loop(owner.loop)
        ) { [weak owner] timer in
            guard let owner else { return timer.invalidate() }
            owner.assumeIsolated { action($0, timer) }
        }
    }
}

extension RunLoop.Source {
    /// Makes a source that is signalled by hand, whose closure is isolated to an actor that is bound to a loop, in no loop yet. Any
    /// thread may signal it.
    ///
    /// Only the actor's loop may have it: adding it to another loop is a precondition failure. The source does not keep the actor; when
    /// it is to be performed and the actor is gone, it becomes invalid. Otherwise the same as without `isolatedTo`.
    public convenience init<Owner: RunLoop.BoundActor>(
        isolatedTo owner: Owner, order: Int = 0, perform: @escaping @Sendable (isolated Owner) -> Void
    ) {
        let made = MadeSource()
        self.init(order: order) { [weak owner] in
            guard let owner else { return made.invalidate() }
            owner.assumeIsolated { perform($0) }
        }
        made.source = self
        home = .loop(owner.loop)
    }

    /// Makes a source that is driven by a descriptor, whose closure is isolated to an actor that is bound to a loop, in no loop yet.
    /// As above; otherwise the same as without `isolatedTo`.
    ///
    /// - Throws: `invalid` without or with unknown conditions, and for a descriptor below −1.
    public convenience init<Owner: RunLoop.BoundActor>(
        isolatedTo owner: Owner, fileDescriptor: CInt, events: Readiness = .read, order: Int = 0,
        perform: @escaping @Sendable (isolated Owner, Readiness) -> Void
    ) throws(RunLoop.Error) {
        let made = MadeSource()
        try self.init(fileDescriptor: fileDescriptor, events: events, order: order) { [weak owner] events in
            guard let owner else { return made.invalidate() }
            owner.assumeIsolated { perform($0, events) }
        }
        made.source = self
        home = .loop(owner.loop)
    }
}

/// The source of a closure that was made before it. Set before a loop has the source, and read on the loop's thread.
private final class MadeSource: Sendable {
    nonisolated(unsafe) weak var source: RunLoop.Source?

    func invalidate() { source?.invalidate() }
}
