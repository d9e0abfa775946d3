internal import RunLoopKit

/// One `RunLoop` of this module per `RunLoop` of RunLoopKit, for as long as its thread lives.
enum RunLoops {
    private static var registry: LoopRegistry { unsafe LoopRegistry(of: RunLoop.self, end: endCallOut) }

    /// The object of the calling thread's loop.
    static var current: RunLoop {
        registry.currentObject.map { unsafe unsafeDowncast($0, to: RunLoop.self) } ?? object(of: .current)
    }

    static func object(of native: RunLoopKit.RunLoop) -> RunLoop {
        unsafe unsafeDowncast(registry.object(of: native) { RunLoop(native) }, to: RunLoop.self)
    }
}

@Sendable
private func endCallOut(_ info: UnsafeMutableRawPointer?) {
    guard let info = unsafe info else { return }
    unsafe Unmanaged<RunLoop>.fromOpaque(info).takeRetainedValue().end()
}
