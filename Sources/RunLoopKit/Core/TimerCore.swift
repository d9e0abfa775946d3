internal import CRunLoopCore
internal import CRunLoopOverlay

/// A `runloop_timer *`. Thread-safe, as the core is.
struct TimerCore: Hashable, @unchecked Sendable {
    /// The address, and a note beside it: no timer is at an odd one.
    private let tagged: OpaquePointer

    var pointer: OpaquePointer { OpaquePointer(bitPattern: UInt(bitPattern: tagged) & ~1).unsafelyUnwrapped }

    /// The action is the main actor's, so only the main loop may have the timer.
    var isMainActors: Bool { UInt(bitPattern: tagged) & 1 != 0 }

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
        tagged = OpaquePointer(bitPattern: UInt(bitPattern: pointer) | (isMainActors ? 1 : 0)).unsafelyUnwrapped
    }

    /// One that calls a closure and is part of no object. With one reference, which belongs to the caller.
    init(fireDate: Int64, tolerance: Int64, _ body: sending @escaping () -> Void) {
        var pointer: OpaquePointer?
        _ = LentClosure(consume body).lend { words in
            let closure = words.assumingMemoryBound(to: runloop__closure.self)
            pointer =
                runloop__timer_new_closure(closure, fireDate, tolerance) ?? Self.makeFirst(closure, fireDate, tolerance)
            return 0
        }
        tagged = pointer.unsafelyUnwrapped
    }

    /// Nobody may have told the core yet how closures are kept.
    @inline(never)
    private static func makeFirst(
        _ closure: UnsafePointer<runloop__closure>, _ fireDate: Int64, _ tolerance: Int64
    ) -> OpaquePointer {
        _ = objectsAreKept
        guard let pointer = runloop__timer_new_closure(closure, fireDate, tolerance) else { outOfMemory() }
        return pointer
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
