#if os(Linux)
extension RunLoop {
    /// Makes a closure for an item of `RunLoop.main` of one that is isolated to the main actor, and so can use its state.
    ///
    ///     let timer = RunLoop.Timer(
    ///         every: .seconds(1),
    ///         RunLoop.onMainActor { [weak self] _ in self?.count += 1 })
    ///     try RunLoop.main.add(timer, forMode: .common)
    ///
    /// For everything that takes a closure: timers, timeouts, sources, observers, performed closures. `RunLoop.main` is the only loop on the
    /// main actor's thread. A call on another one is a precondition failure, which is checked each time, at the cost of a tenth of a
    /// microsecond. O(1).
    public static func onMainActor<each Argument: Sendable>(
        _ body: @escaping @MainActor (repeat each Argument) -> Void
    ) -> @Sendable (repeat each Argument) -> Void {
        { (arguments: repeat each Argument) in
            main.checkActor()
            MainActor.assumeIsolated { body(repeat each arguments) }
        }
    }

    /// The same for a closure that receives the messages of a ``Port``, which can't be copied.
    ///
    ///     let lengths = try RunLoop.Port<String, Int>(
    ///         on: .main,
    ///         receive: RunLoop.onMainActor { message in
    ///             let length = message.request.count
    ///             message.reply(length)
    ///         })
    @_disfavoredOverload
    public static func onMainActor<Request, Reply>(
        _ body: @escaping @MainActor (consuming Port<Request, Reply>.Message) -> Void
    ) -> @Sendable (consuming Port<Request, Reply>.Message) -> Void {
        { (message: consuming Port<Request, Reply>.Message) in
            main.checkActor()
            // Handed to the closure, which is called once, at once and on this thread. Its request was sent to that.
            nonisolated(unsafe) var message: Port<Request, Reply>.Message? = consume message
            MainActor.assumeIsolated {
                if let message = unsafe message.take() { body(message) }
            }
        }
    }

    /// Fails if this is not the calling thread's loop.
    func checkActor() {
        precondition(
            isCurrent,
            "What is isolated to an actor is for the loop of that actor only: for the main actor, RunLoop.main.")
    }
}
#endif
