internal import CRunLoopCore

/// A `runloop_timer *`. Thread-safe, as the core is.
struct TimerCore: Hashable, @unchecked Sendable {
    let pointer: OpaquePointer

    /// With one reference, which belongs to the caller.
    init(fireDate: Int64, interval: Int64, tolerance: Int64, order: Int32, box: TimerBox) {
        var config = runloop_timer_config()
        config.context.info = lendBox(box)
        config.context.release = releaseCallOut
        config.order = order
        config.fire_ns = fireDate
        config.interval_ns = interval
        config.tolerance_ns = tolerance
        config.fire = fireCallOut
        var pointer: OpaquePointer?
        guard runloop_timer_create(&config, &pointer) == 0, let pointer else { outOfMemory() }
        self.pointer = pointer
    }

    fileprivate init(pointer: OpaquePointer) {
        self.pointer = pointer
    }

    func retain() { runloop_timer_retain(pointer) }
    func release() { runloop_timer_release(pointer) }

    var fireDate: Int64 { runloop_timer_get_fire_date(pointer) }
    func setFireDate(_ date: Int64) { runloop_timer_set_fire_date(pointer, date) }
    var interval: Int64 { runloop_timer_get_interval(pointer) }
    var order: Int32 { runloop_timer_get_order(pointer) }
    var tolerance: Int64 { runloop_timer_get_tolerance(pointer) }
    func setTolerance(_ tolerance: Int64) { runloop_timer_set_tolerance(pointer, tolerance) }
    var missed: UInt64 { runloop_timer_get_missed(pointer) }
    var isValid: Bool { runloop_timer_is_valid(pointer) }
    func invalidate() { runloop_timer_invalidate(pointer) }
}

@Sendable
private func fireCallOut(_ timer: OpaquePointer?, _ info: UnsafeMutableRawPointer?) {
    guard let timer else { return }
    withBox(info, as: TimerBox.self) { $0.fire(TimerCore(pointer: timer)) }
}

/// The end of a timer, on any thread: no loop needs to keep its wrapper any more.
@Sendable
private func releaseCallOut(_ info: UnsafeMutableRawPointer?) {
    withBox(info, as: TimerBox.self) { box in
        if let timer = box.timer { timer.home.leave(ItemKey(timer.core.pointer)) }
    }
    returnBox(info)
}
