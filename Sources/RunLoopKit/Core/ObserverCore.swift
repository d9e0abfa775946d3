internal import CRunLoopCore

/// A `runloop_observer *`. Thread-safe, as the core is.
struct ObserverCore: Hashable, @unchecked Sendable {
    let pointer: OpaquePointer

    /// With one reference, which belongs to the caller.
    init(activities: UInt32, repeats: Bool, order: Int32, box: ObserverBox) {
        var config = runloop_observer_config()
        config.context.info = lendBox(box)
        config.context.release = releaseCallOut
        config.order = order
        config.activities = activities
        config.repeats = repeats
        config.observe = observeCallOut
        var pointer: OpaquePointer?
        guard runloop_observer_create(&config, &pointer) == 0, let pointer else { outOfMemory() }
        self.pointer = pointer
    }

    fileprivate init(pointer: OpaquePointer) {
        self.pointer = pointer
    }

    func retain() { runloop_observer_retain(pointer) }
    func release() { runloop_observer_release(pointer) }

    var activities: UInt32 { runloop_observer_get_activities(pointer) }
    var order: Int32 { runloop_observer_get_order(pointer) }
    var repeats: Bool { runloop_observer_repeats(pointer) }
    var isValid: Bool { runloop_observer_is_valid(pointer) }
    func invalidate() { runloop_observer_invalidate(pointer) }
}

@Sendable
private func observeCallOut(_ observer: OpaquePointer?, _ activity: UInt32, _ info: UnsafeMutableRawPointer?) {
    guard let observer else { return }
    withBox(info, as: ObserverBox.self) {
        $0.observe(ObserverCore(pointer: observer), RunLoop.Observer.Activities(rawValue: activity))
    }
}

/// The end of an observer, as for a timer.
@Sendable
private func releaseCallOut(_ info: UnsafeMutableRawPointer?) {
    withBox(info, as: ObserverBox.self) { box in
        if let observer = box.observer { observer.home.leave(ItemKey(observer.core.pointer)) }
    }
    returnBox(info)
}
