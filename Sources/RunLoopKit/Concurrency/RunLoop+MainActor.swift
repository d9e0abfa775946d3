extension RunLoop {
    /// Makes a closure for an item of `RunLoop.main` of one that is isolated to the main actor, and so can use its state.
    ///
    ///     let timer = RunLoop.Timer(every: .seconds(1), RunLoop.onMainActor { [weak self] _ in self?.count += 1 })
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

    /// The same for a closure whose one argument can't be copied: a message of a ``Port``.
    ///
    ///     let lengths = try RunLoop.Port<String, Int>(on: .main, receive: RunLoop.onMainActor { message in
    ///         let length = message.request.count
    ///         message.reply(length)
    ///     })
    @_disfavoredOverload
    public static func onMainActor<Argument: ~Copyable>(
        _ body: @escaping @MainActor (consuming Argument) -> Void
    ) -> @Sendable (consuming Argument) -> Void {
        { (argument: consuming Argument) in
            main.checkActor()
            // Handed to the closure, which is called once, at once and on this thread.
            nonisolated(unsafe) var argument: Argument? = consume argument
            MainActor.assumeIsolated {
                if let argument = unsafe argument.take() { body(argument) }
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
