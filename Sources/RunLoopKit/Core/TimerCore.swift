internal import CRunLoopCore
internal import CRunLoopOverlay

/// A `runloop_timer *`. Thread-safe, as the core is.
struct TimerCore: Hashable, @unchecked Sendable {
    /// The address, and a note beside it: no timer is at an odd one.
    private let bits: UInt

    var pointer: OpaquePointer { OpaquePointer(bitPattern: bits & ~1).unsafelyUnwrapped }

    /// The action is the main actor's, so only the main loop may have the timer.
    var isMainActors: Bool { bits & 1 != 0 }

    /// With one reference, which belongs to the caller.
    init(fireDate: Int64, interval: Int64, tolerance: Int64, order: Int32, isMainActors: Bool) {
        _ = objectsAreKept
        var config = runloop_timer_config()
        config.order = order
        config.fire_ns = fireDate
        config.interval_ns = interval
        config.tolerance_ns = tolerance
        config.fire = fireCallOut
        var pointer: OpaquePointer?
        guard runloop_timer_create(&config, &pointer) == 0, let pointer else { outOfMemory() }
        bits = UInt(bitPattern: pointer) | (isMainActors ? 1 : 0)
    }

    /// Before anybody else has it.
    func join(_ timer: RunLoop.Timer) {
        runloop__timer_join_object(pointer, Unmanaged.passUnretained(timer).toOpaque())
    }

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
private func fireCallOut(_: OpaquePointer?, _ info: UnsafeMutableRawPointer?) {
    withBox(info, as: RunLoop.Timer.self) { $0.fire() }
}

/// The timer is invalid, or being freed: on any thread, and never while it fires.
@Sendable
func endTimer(_ info: UnsafeMutableRawPointer?) {
    withBox(info, as: RunLoop.Timer.self) { $0.end() }
}
