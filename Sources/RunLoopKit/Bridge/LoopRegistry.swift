#if os(Linux)
internal import CRunLoopCore

/// The objects of a class, one per C loop, for as long as the loop's thread lives: `RunLoop`, and the classes that other modules of
/// the package build on it.
///
/// The C loop retains the object, and releases it last when its thread ends. A reference that still exists then is to a loop on which
/// nothing ever runs. There is no lock and no table: the thread finds its object by a few loads, and a fork at any moment is safe.
@safe package struct LoopRegistry<Object: AnyObject> {
    /// Releases the loop's reference to its object, on the ending thread.
    package typealias End = @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void

    /// Identifies the class: its address, at which nobody looks.
    @safe private let key: UnsafeRawPointer
    @safe private let end: End

    @inline(__always)
    package init(end: @escaping End = unsafe releaseInfo) {
        key = unsafe unsafeBitCast(Object.self as AnyClass, to: UnsafeRawPointer.self)
        self.end = unsafe end
    }

    /// The object of the calling thread's loop, if it has one yet.
    @inline(__always)
    package var currentObject: Object? {
        unsafe runloop_current_associated(key).map { unsafe Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The object of a loop, from any thread.
    package func object(of loop: RunLoop, make: () -> Object) -> Object {
        unsafe object(of: loop.core, make: make)
    }

    /// The object of a loop that the caller knows to be alive, from any thread.
    func object(of core: OpaquePointer, make: () -> Object) -> Object {
        while true {
            if let known = unsafe runloop_copy_associated(core, key) {
                return unsafe Unmanaged<Object>.fromOpaque(known).takeRetainedValue()
            }
            let object = make()
            let info = unsafe retainedInfo(object)
            let result = unsafe runloop_set_associated(core, key, info, retainCallOut, end)
            if result == 0 { return object }
            if result == -ErrorNumber.outOfMemory { outOfMemory() }
            if result != -ErrorNumber.alreadyThere {
                // The thread is ending, or the loop belongs to another process: the object is for this call only, and has ended.
                unsafe end(info)
                return object
            }
            // Another thread was faster.
            unsafe releaseInfo(info)
        }
    }
}

@Sendable
private func retainCallOut(_ info: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let info = unsafe info else { return nil }
    return unsafe Unmanaged<AnyObject>.fromOpaque(info).retain().toOpaque()
}

extension RunLoop {
    private static var registry: LoopRegistry<RunLoop> { unsafe LoopRegistry(end: endCallOut) }

    /// The object of the calling thread's loop.
    @inline(__always)
    static var currentObject: RunLoop? { registry.currentObject }

    /// The object of a loop that the caller knows to be alive, from any thread.
    static func object(of core: OpaquePointer) -> RunLoop {
        unsafe registry.object(of: core) { unsafe RunLoop(retaining: core) }
    }
}

@Sendable
private func endCallOut(_ info: UnsafeMutableRawPointer?) {
    guard let info = unsafe info else { return }
    unsafe Unmanaged<RunLoop>.fromOpaque(info).takeRetainedValue().end.reach()
}
#endif
