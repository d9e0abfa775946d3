internal import CRunLoopCore
internal import CRunLoopOverlay

/// A `runloop_observer *`. Thread-safe, as the core is.
struct ObserverCore: Hashable, @unchecked Sendable {
    let pointer: OpaquePointer

    /// With one reference, which belongs to the caller.
    init(activities: UInt32, repeats: Bool, order: Int32) {
        _ = objectsAreKept
        var config = runloop_observer_config()
        config.context.release = endCallOut
        config.order = order
        config.activities = activities
        config.repeats = repeats
        config.observe = observeCallOut
        var pointer: OpaquePointer?
        guard runloop_observer_create(&config, &pointer) == 0, let pointer else { outOfMemory() }
        self.pointer = pointer
    }

    /// Before anybody else has it.
    func join(_ observer: RunLoop.Observer) {
        runloop__observer_join_object(pointer, Unmanaged.passUnretained(observer).toOpaque())
    }

    func release() { runloop_observer_release(pointer) }

    var activities: UInt32 { runloop_observer_get_activities(pointer) }
    var order: Int32 { runloop_observer_get_order(pointer) }
    var repeats: Bool { runloop_observer_repeats(pointer) }
    var isValid: Bool { runloop_observer_is_valid(pointer) }
    func invalidate() { runloop_observer_invalidate(pointer) }
}

@Sendable
private func observeCallOut(_: OpaquePointer?, _ activity: UInt32, _ info: UnsafeMutableRawPointer?) {
    withBox(info, as: RunLoop.Observer.self) { $0.observe(RunLoop.Observer.Activities(rawValue: activity)) }
}

/// The end of an observer, as for a timer.
@Sendable
private func endCallOut(_ info: UnsafeMutableRawPointer?) {
    withBox(info, as: RunLoop.Observer.self) { $0.end() }
}
