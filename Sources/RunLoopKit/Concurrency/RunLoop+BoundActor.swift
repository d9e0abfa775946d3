extension RunLoop {
    /// An actor that is isolated by the thread of a loop. It says which loop, and has its executor from that.
    ///
    ///     actor Device: RunLoop.BoundActor {
    ///         nonisolated let loop: RunLoop
    ///         init(on loop: RunLoop) { self.loop = loop }
    ///     }
    ///
    /// Its methods run on the loop's thread, when the loop runs in a common mode; in call-outs of the loop `assumeIsolated` passes. See
    /// ``ActorExecutor`` for what holds of its jobs.
    public protocol BoundActor: Actor {
        /// The loop, always the same one.
        nonisolated var loop: RunLoop { get }
    }
}

extension RunLoop.BoundActor {
    /// The loop's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
}
