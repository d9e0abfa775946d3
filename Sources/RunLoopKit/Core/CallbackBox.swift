//===----------------------------------------------------------------------===//
// Boxes: what a closure looks like from C, a `void *`.
//
// The core owns one reference to the box of an item, and releases it once: when a timer or observer is invalidated or
// freed, when a source is freed, and never while a callback of that item runs. So a callback borrows its box, without
// counting references, and calls the closure in it: nothing is allocated per event.
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

/// The closure of one `perform`.
final class PerformBox {
    let body: () -> Void

    init(_ body: sending @escaping () -> Void) {
        self.body = body
    }
}

/// The action of a timer, and the way back to its `RunLoop.Timer`.
///
/// The reference is weak because the wrapper owns the C timer, which owns the box. While a loop has the timer, the loop's
/// `ItemKeeper` keeps the wrapper, so that the action gets the object that its creator had. Only if the timer was removed
/// and its last user let go of it between the loop's decision to fire and the call is a new wrapper made.
final class TimerBox {
    let action: (RunLoop.Timer) -> Void
    weak var timer: RunLoop.Timer?

    init(_ action: sending @escaping (RunLoop.Timer) -> Void) {
        self.action = action
    }

    /// Never called twice at a time: a timer is in one loop and not re-entered.
    @inline(__always)
    func fire(_ core: TimerCore) {
        if let timer {
            action(timer)
        } else {
            let timer = RunLoop.Timer(retaining: core)
            self.timer = timer
            action(timer)
        }
    }
}

/// The action of an observer, and the way back to its `RunLoop.Observer`, as for a timer.
final class ObserverBox {
    let action: (RunLoop.Observer, RunLoop.Observer.Activities) -> Void
    weak var observer: RunLoop.Observer?

    init(_ action: sending @escaping (RunLoop.Observer, RunLoop.Observer.Activities) -> Void) {
        self.action = action
    }

    @inline(__always)
    func observe(_ core: ObserverCore, _ activity: RunLoop.Observer.Activities) {
        if let observer {
            action(observer, activity)
        } else {
            let observer = RunLoop.Observer(retaining: core)
            self.observer = observer
            action(observer, activity)
        }
    }
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
