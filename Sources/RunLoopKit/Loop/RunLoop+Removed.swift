#if os(Linux)
// Earlier names, so that the compiler says what to use instead.

extension RunLoop {
    @available(
        *, unavailable,
        message: "Link the product RunLoopKitMainActor instead of RunLoopKitAsyncMain, and call nothing."
    )
    @discardableResult
    public static func takeOverAsyncMain() -> Bool { false }

    @available(*, unavailable, message: "Call stop(remembered: true).")
    public func stopCurrentOrNextRun() {}

    @available(*, unavailable, renamed: "run(mode:until:deadline:)")
    @discardableResult
    public func run(mode: Mode = .default, untilTrue condition: () -> Bool, deadline: Instant?) -> Bool { false }

    @available(*, unavailable, message: "A RunLoop.Timeout is cancelled by destroying it, and needs no key.")
    @discardableResult
    public func cancelPerforms(key: some Hashable & Sendable) -> Int { 0 }

    @available(*, unavailable, message: "A loop sleeps while it has nothing to do.")
    public var spinLimit: Duration { .zero }

    @available(*, unavailable, message: "Make a RunLoop.IterationScope, and keep it.")
    public func addIterationScope<Scope>(
        inMode mode: Mode = .common, open: @escaping () -> Scope, close: @escaping (Scope) -> Void
    ) {}
}

extension RunLoop {
    @available(*, unavailable, message: "Write any SerialExecutor.")
    public typealias ActorExecutor = any SerialExecutor

    @available(*, unavailable, message: "Write any _Concurrency.TaskExecutor.")
    public typealias TaskExecutor = any _Concurrency.TaskExecutor
}

extension RunLoop.Item {
    @available(*, unavailable, message: "Set the property: item.name = \"name\".")
    public func setName(_ name: StaticString) {}
}

extension RunLoop.Source {
    @available(*, unavailable, renamed: "watch(for:)")
    public func setEvents(_ events: Readiness) {}
}

extension RunLoop.Port {
    @available(*, unavailable, renamed: "send(_:timeout:)")
    public func sendWaiting(_ request: sending Request) {}
}
#endif
