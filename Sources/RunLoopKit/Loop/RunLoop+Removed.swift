// What earlier versions had, so that the compiler says what to use instead.

extension RunLoop {
    /// Was a part of version 0.1.0's product RunLoopKitAsyncMain. RunLoopKitMainActor is linked instead, and not called.
    @available(
        *, unavailable,
        message: "Link the product RunLoopKitMainActor instead of RunLoopKitAsyncMain, and call nothing."
    )
    @discardableResult
    public static func takeOverAsyncMain() -> Bool { false }
}
