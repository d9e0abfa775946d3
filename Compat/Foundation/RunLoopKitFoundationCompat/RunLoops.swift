#if os(Linux)
internal import RunLoopKit

/// One `RunLoop` of this module per `RunLoop` of RunLoopKit, for as long as its thread lives.
enum RunLoops {
    private static var registry: LoopRegistry<RunLoop> { unsafe LoopRegistry(end: endCallOut) }

    /// The object of the calling thread's loop.
    static var current: RunLoop { registry.currentObject ?? object(of: .current) }

    static func object(of native: RunLoopKit.RunLoop) -> RunLoop {
        registry.object(of: native) { RunLoop(native) }
    }
}

@Sendable
private func endCallOut(_ info: UnsafeMutableRawPointer?) {
    guard let info = unsafe info else { return }
    unsafe Unmanaged<RunLoop>.fromOpaque(info).takeRetainedValue().end()
}
#endif
