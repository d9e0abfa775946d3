#if os(Linux)
extension RunLoop {
    /// An actor that is isolated by the thread of a loop. It says which loop, and has its executor from that.
    ///
    ///     actor Device: RunLoop.BoundActor {
    ///         nonisolated let loop: RunLoop
    ///         init(on loop: RunLoop) { self.loop = loop }
    ///     }
    ///
    /// Its methods run on the loop's thread, when the loop runs in a common mode; in call-outs of the loop `assumeIsolated` passes. See
    /// ``executor`` for what holds of its jobs.
    public protocol BoundActor: Actor {
        /// The loop, always the same one.
        nonisolated var loop: RunLoop { get }
    }
}

extension RunLoop.BoundActor {
    /// The executor of the loop to which the actor is bound, so that its methods run on that loop's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.executor.asUnownedSerialExecutor() }
}

extension RunLoop.BoundActor {
    /// Makes a closure for an item of the actor's loop of one that is isolated to the actor, and so can use its state.
    ///
    ///     actor Device: RunLoop.BoundActor {
    ///         nonisolated let loop: RunLoop
    ///         private var ticks = 0
    ///         init(on loop: RunLoop) { self.loop = loop }
    ///
    ///         func begin() throws {
    ///             let timer = RunLoop.Timer(
    ///                 every: .seconds(1), isolated { device, _ in device.ticks += 1 })
    ///             try loop.add(timer, forMode: .common)
    ///         }
    ///     }
    ///
    /// A call on another loop is a precondition failure. The closure does not keep the actor. When it is called and the actor is gone, it
    /// invalidates the timer or the observer that is its argument, and does nothing else: an actor invalidates its sources in its `deinit`.
    /// O(1).
    public nonisolated func isolated<each Argument: Sendable>(
        _ body: @escaping @Sendable (isolated Self, repeat each Argument) -> Void
    ) -> @Sendable (repeat each Argument) -> Void {
        { [weak self] (arguments: repeat each Argument) in
            if let self {
                loop.checkActor()
                return assumeIsolated { body($0, repeat each arguments) }
            }
            for argument in repeat each arguments {
                (argument as? RunLoop.Item)?.invalidate()
            }
        }
    }

    /// The same for a closure without another argument.
    public nonisolated func isolated(
        _ body: @escaping @Sendable (isolated Self) -> Void
    ) -> @Sendable () -> Void {
        { [weak self] in
            guard let self else { return }
            loop.checkActor()
            assumeIsolated { body($0) }
        }
    }

    /// The same for a closure that receives the messages of a ``RunLoop/Port``, which can't be copied, and are dropped if the actor is
    /// gone.
    @_disfavoredOverload
    public nonisolated func isolated<Request, Reply>(
        _ body: @escaping @Sendable (isolated Self, consuming RunLoop.Port<Request, Reply>.Message) -> Void
    ) -> @Sendable (consuming RunLoop.Port<Request, Reply>.Message) -> Void {
        { [weak self] (message: consuming RunLoop.Port<Request, Reply>.Message) in
            guard let self else { return }
            loop.checkActor()
            // Handed to the closure, which is called once, at once and on this thread. Its request was sent to that.
            nonisolated(unsafe) var message: RunLoop.Port<Request, Reply>.Message? = consume message
            assumeIsolated {
                if let message = unsafe message.take() { body($0, message) }
            }
        }
    }
}
#endif
