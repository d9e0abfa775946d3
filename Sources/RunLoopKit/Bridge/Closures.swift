#if os(Linux)
//===----------------------------------------------------------------------===//
// How the core keeps what belongs to Swift: as a `void *` to an object, or as the two words of a closure.
//
// A timer and an observer are their own object: the closure is in the `RunLoop.Timer`, which the core retains while a loop, or
// a call-out, has the C timer. So the action gets the object that its creator had, even if the creator released it; the object
// is freed when it leaves its last mode, becomes invalid or its loop's thread ends, if nobody else holds it; and there is no
// list of objects.
//
// A timeout is a C timer and no object. The C timer holds the two words of its closure, the function and its captures.
//
// A source's closures are in a box. The core owns one reference to the box and releases it when the source is freed. A performed
// closure is in the core's post until it runs.
//
// A callback borrows what `info` points to, without counting references, and calls a closure that is not copied: nothing
// is allocated or counted per event.
//===----------------------------------------------------------------------===//

/// Retains an object for the core, as the info of one of its items or posts.
package func retainedInfo(_ object: AnyObject) -> UnsafeMutableRawPointer {
    unsafe Unmanaged.passRetained(object).toOpaque()
}

/// Releases the core's reference to an object.
@Sendable
package func releaseInfo(_ info: UnsafeMutableRawPointer?) {
    guard let info = unsafe info else { return }
    unsafe Unmanaged<AnyObject>.fromOpaque(info).release()
}

/// A closure that an item of the core keeps, behind its info.
package final class ClosureBox<Argument>: Sendable {
    package let call: @Sendable (Argument) -> Void

    package init(_ call: @escaping @Sendable (Argument) -> Void) {
        self.call = call
    }
}

/// Calls `body` with the object behind `info`. The core keeps the object for the whole call.
@inlinable
@inline(__always)
package func withInfo<Object: AnyObject>(_ info: UnsafeMutableRawPointer?, as _: Object.Type, _ body: (Object) -> Void)
{
    guard let info = unsafe info else { return }
    unsafe Unmanaged<Object>.fromOpaque(info)._withUnsafeGuaranteedRef(body)
}

/// A closure that the core keeps: two words, which are in a post until it runs, or in a timer for as long as that may fire.
struct StoredClosure: ~Copyable {
    private let body: () -> Void

    @inline(__always)
    init(_ body: consuming sending @escaping () -> Void) {
        self.body = body
    }

    /// Moves the closure into the core. `copy` copies the two words behind the pointer, unless its result is an error.
    @inline(__always)
    consuming func store(by copy: (UnsafeRawPointer) -> Int32) -> Int32 {
        unsafe assert(MemoryLayout<Self?>.size == 2 * MemoryLayout<UnsafeRawPointer>.size)
        var closure: Self? = self
        return unsafe withUnsafeMutablePointer(to: &closure) { words in
            let result = unsafe copy(words)
            // The core owns the closure now, so the copy here is overwritten without being released.
            if result == 0 { unsafe words.initialize(to: nil) }
            return result
        }
    }

    /// Moves the closure out of the two words in the core.
    @inline(__always)
    static func take(from words: UnsafeMutableRawPointer) -> Self {
        unsafe words.assumingMemoryBound(to: Self.self).move()
    }

    func callAsFunction() { body() }
}
#endif
