/// The objects of a class, one per C loop, for as long as the loop's thread lives: `RunLoop`, and what other modules of the package
/// make of it.
///
/// The C loop has the object, and lets go of it as the last thing when its thread ends. Who still holds it then has a loop on
/// which nothing ever runs. No lock and no table: the thread finds its object by a few loads, and a fork at any moment does no harm.
package struct LoopRegistry {
    /// Takes the loop's reference to its object back, on the thread that ends.
    package typealias End = @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void

    /// What tells the objects of a class from others: an address that nothing else is at.
    private let key: UnsafeRawPointer
    private let end: End

    @inline(__always)
    package init(of kind: AnyClass, end: @escaping End) {
        key = unsafeBitCast(kind, to: UnsafeRawPointer.self)
        self.end = end
    }

    /// The object of the calling thread's loop, if it has one yet.
    @inline(__always)
    package var currentObject: AnyObject? {
        LoopCore.currentAssociated(key).map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The object of a loop, from any thread.
    package func object(of loop: RunLoop, make: () -> AnyObject) -> AnyObject {
        object(of: loop.core, make: make)
    }

    /// The object of a loop that the caller knows to be alive, from any thread.
    func object(of core: LoopCore, make: () -> AnyObject) -> AnyObject {
        while true {
            if let known = core.copyAssociated(key) {
                return Unmanaged<AnyObject>.fromOpaque(known).takeRetainedValue()
            }
            let object = make()
            let info = lendBox(object)
            let result = core.setAssociated(key, info, retain: retainCallOut, release: end)
            if result == 0 { return object }
            returnBox(info)
            if result == -ErrorNumber.outOfMemory { outOfMemory() }
            // The thread is ending, or the loop is another process's: an object for this call only. Otherwise another thread
            // was faster.
            if result != -ErrorNumber.alreadyThere { return object }
        }
    }
}

@Sendable
private func retainCallOut(_ info: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let info else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(info).retain().toOpaque()
}

extension RunLoop {
    private static var registry: LoopRegistry { LoopRegistry(of: RunLoop.self, end: endCallOut) }

    /// That of the calling thread's loop.
    @inline(__always)
    static var currentObject: RunLoop? { registry.currentObject.map { unsafeDowncast($0, to: RunLoop.self) } }

    /// That of a loop which the caller knows to be alive, from any thread.
    static func object(of core: LoopCore) -> RunLoop {
        unsafeDowncast(registry.object(of: core) { RunLoop(retaining: core) }, to: RunLoop.self)
    }
}

@Sendable
private func endCallOut(_ info: UnsafeMutableRawPointer?) {
    guard let info else { return }
    Unmanaged<RunLoop>.fromOpaque(info).takeRetainedValue().end.reach()
}
