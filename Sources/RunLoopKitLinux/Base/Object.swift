#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
internal import RunLoopKit

// Objects of the library for Linux: signals, children, listeners, outputs and so on are sources in C, and so they are here.

extension RunLoop.Source {
    /// Makes an object.
    ///
    /// - Parameters:
    ///   - receiver: what the functions of the object are given as their info. The object retains it until it is freed.
    ///   - failure: the error of a negative result.
    ///   - create: completes the configuration of the object with the context, and creates it.
    convenience init<Failure: Error>(
        receiver: AnyObject, failure: (Int32) -> Failure, create: (runloop_context, inout OpaquePointer?) -> Int32
    ) throws(Failure) {
        var context = unsafe runloop_context()
        unsafe context.info = retainedInfo(receiver)
        unsafe context.release = releaseInfo
        var core: OpaquePointer?
        let result = unsafe create(context, &core)
        guard result == 0, let core = unsafe core else {
            unsafe releaseInfo(context.info)
            throw failure(result)
        }
        unsafe self.init(core: core)
    }

    /// The same, by the call, which says what errors there can be, and what they are about.
    convenience init(
        receiver: AnyObject, of call: RunLoop.Error.Call = .change, subject: @autoclosure () -> String? = nil,
        create: (runloop_context, inout OpaquePointer?) -> Int32
    ) throws(RunLoop.Error) {
        let failure = { RunLoop.Error(result: $0, of: call, subject: subject()) }
        unsafe try self.init(receiver: receiver, failure: failure, create: create)
    }
}

/// The bytes where they are, or a copy in one piece.
func withBytes<Result>(_ bytes: some Collection<UInt8>, _ body: (UnsafePointer<UInt8>?, Int) -> Result) -> Result {
    unsafe bytes.withContiguousStorageIfAvailable { unsafe body($0.baseAddress, $0.count) }
        ?? Array(bytes).withUnsafeBufferPointer { unsafe body($0.baseAddress, $0.count) }
}
#endif
