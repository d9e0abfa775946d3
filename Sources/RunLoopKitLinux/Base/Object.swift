internal import CRunLoopCore
internal import CRunLoopLinux
internal import RunLoopKit

// Objects of the library for Linux: signals, children, listeners, outputs and so on are sources in C, and so they are here.

extension RunLoop.Source {
    /// Makes an object.
    ///
    /// - Parameters:
    ///   - receiver: what the functions of the object are given as their info. The object retains it until it is freed.
    ///   - call: which errors there can be.
    ///   - subject: what they are about.
    ///   - create: completes the configuration of the object with the context, and creates it.
    convenience init(
        receiver: AnyObject, of call: RunLoop.Error.Call = .change, subject: @autoclosure () -> String? = nil,
        create: (runloop_context, inout OpaquePointer?) -> Int32
    ) throws(RunLoop.Error) {
        var context = unsafe runloop_context()
        unsafe context.info = retainedInfo(receiver)
        unsafe context.release = releaseInfo
        var core: OpaquePointer?
        let result = unsafe create(context, &core)
        guard result == 0, let core = unsafe core else {
            unsafe releaseInfo(context.info)
            throw RunLoop.Error(result: result, of: call, subject: subject())
        }
        unsafe self.init(core: core)
    }
}

/// The bytes where they are, or a copy in one piece.
func withBytes<Result>(_ bytes: some Collection<UInt8>, _ body: (UnsafePointer<UInt8>?, Int) -> Result) -> Result {
    unsafe bytes.withContiguousStorageIfAvailable { unsafe body($0.baseAddress, $0.count) }
        ?? Array(bytes).withUnsafeBufferPointer { unsafe body($0.baseAddress, $0.count) }
}
