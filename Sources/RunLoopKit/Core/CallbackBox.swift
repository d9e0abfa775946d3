internal import CRunLoopCore
internal import CRunLoopOverlay

//===----------------------------------------------------------------------===//
// What a closure looks like from C: a `void *`.
//
// A timer and an observer are their own: the closure is in the `RunLoop.Timer`, which the core retains while a loop, or a
// call-out, has the C timer. So the action gets the object that its creator had, even if the creator let go of it; the object goes
// when it leaves its last mode, becomes invalid or its loop's thread ends, if nobody else holds it; and nobody keeps a list.
//
// A timeout is a C timer and nothing else: it has the two words of its closure, the function and what keeps its captures.
//
// A source's closures are in a box, of which the core owns one reference and releases it when the source is freed. A performed
// closure is in the core's post until it runs.
//
// A callback borrows what `info` points to, without counting references, and calls a closure that is not copied: nothing
// is allocated or counted per event.
//===----------------------------------------------------------------------===//

/// Hands the core its reference.
func lendBox(_ box: AnyObject) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(box).toOpaque()
}

/// Takes the core's reference back.
@Sendable
func returnBox(_ info: UnsafeMutableRawPointer?) {
    guard let info else { return }
    Unmanaged<AnyObject>.fromOpaque(info).release()
}

/// Calls `body` with the box behind `info`. The core keeps the box for the whole call.
@inline(__always)
func withBox<Box: AnyObject>(_ info: UnsafeMutableRawPointer?, as _: Box.Type, _ body: (Box) -> Void) {
    guard let info else { return }
    Unmanaged<Box>.fromOpaque(info)._withUnsafeGuaranteedRef(body)
}

/// Has the core keep the objects of timers and observers. Done before the first of them is made.
let objectsAreKept: Void = runloop__set_object_hooks(retainObject, returnBox, endTimer, callClosure)

@Sendable
private func retainObject(_ object: UnsafeMutableRawPointer?) {
    guard let object else { return }
    _ = Unmanaged<AnyObject>.fromOpaque(object).retain()
}

/// A closure that the core keeps: two words, which are in a post until it runs, or in a timer for as long as that may fire. What it
/// captured goes right after.
struct LentClosure: ~Copyable {
    private let body: () -> Void

    @inline(__always)
    init(_ body: consuming sending @escaping () -> Void) {
        self.body = body
    }

    /// Hands the closure to the core by `post`, which copies the words behind the pointer unless its result is an error.
    @inline(__always)
    consuming func lend(_ post: (UnsafeRawPointer) -> Int32) -> Int32 {
        assert(MemoryLayout<Self?>.size == 2 * MemoryLayout<UnsafeRawPointer>.size)
        var closure: Self? = self
        return withUnsafeMutablePointer(to: &closure) { words in
            let result = post(words)
            // The core has the closure now: what is left of it here is forgotten, and not freed.
            if result == 0 { words.initialize(to: nil) }
            return result
        }
    }

    @inline(__always)
    static func takeBack(_ words: UnsafeMutableRawPointer) -> Self {
        words.assumingMemoryBound(to: Self.self).move()
    }

    func callAsFunction() { body() }
}

/// What cannot be copied is borrowed: it is called without counting references.
@Sendable
private func callClosure(_ closure: UnsafeMutableRawPointer?) {
    closure?.assumingMemoryBound(to: LentClosure.self).pointee()
}

/// The actions of a source that is signalled by hand. A source may perform on several loops at once.
final class SignalBox: Sendable {
    typealias Membership = @Sendable (RunLoop, RunLoop.Mode) -> Void

    let perform: @Sendable () -> Void
    let onSchedule: Membership?
    let onCancel: Membership?

    init(perform: @escaping @Sendable () -> Void, onSchedule: Membership?, onCancel: Membership?) {
        self.perform = perform
        self.onSchedule = onSchedule
        self.onCancel = onCancel
    }
}

/// The action of a descriptor source.
final class DescriptorBox: Sendable {
    let ready: @Sendable (RunLoop.Source.Readiness) -> Void

    init(_ ready: @escaping @Sendable (RunLoop.Source.Readiness) -> Void) {
        self.ready = ready
    }
}
