// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
public import FoundationEssentials
public import RunLoopKit

// CFRunLoopTimer by its functions, and what its callers name beside it. On Apple's systems it is another name of Foundation's timer, too.

/// Foundation's timer, by CoreFoundation's name.
public typealias CFRunLoopTimer = Timer
/// Seconds since the beginning of 2001.
public typealias CFAbsoluteTime = TimeInterval
/// Seconds.
public typealias CFTimeInterval = TimeInterval
/// A number of things, or a place among them.
public typealias CFIndex = Int
/// Flags, which nothing here has.
public typealias CFOptionFlags = UInt

/// An allocator, of which there is no choice here, and no object of this type.
public final class CFAllocator: Sendable {
    private init() {}
}

/// The memory of Swift's objects.
public var kCFAllocatorDefault: CFAllocator? { nil }

/// The present date by the wall clock. Any thread. O(1).
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date().timeIntervalSinceReferenceDate }

/// Makes a timer that is in no loop yet.
///
/// - Parameters:
///   - allocator: Has no effect.
///   - fireDate: When it fires first. A date that has passed means now; one that is not a number, never.
///   - interval: In seconds, for a timer that repeats. With zero, a negative value or one that is not a number it fires once, and is then
///     invalid.
///   - flags: Has no effect.
///   - order: Has no effect: timers fire in the order of their dates.
///   - block: Called on the loop's thread with the timer, and freed when that is invalid.
public func CFRunLoopTimerCreateWithHandler(
    _ allocator: CFAllocator?, _ fireDate: CFAbsoluteTime, _ interval: CFTimeInterval, _ flags: CFOptionFlags,
    _ order: CFIndex, _ block: @escaping @Sendable (CFRunLoopTimer?) -> Void
) -> CFRunLoopTimer! {
    CFRunLoopTimer(
        fire: Date(timeIntervalSinceReferenceDate: fireDate), interval: interval, repeats: interval > 0
    ) { block($0) }
}

/// Adds a timer to a mode of a loop, or to the common modes, as `RunLoop.add` does. `nil` is ignored. Any thread.
public func CFRunLoopAddTimer(_ loop: CFRunLoop, _ timer: CFRunLoopTimer?, _ mode: CFRunLoopMode) {
    guard let timer else { return }
    RunLoops.object(of: loop).add(timer, forMode: mode)
}

/// Removes a timer from a mode, or from the common modes. It stays valid, and may be added again, to the same loop; the loop keeps the object
/// until it is invalid. No effect if it is not there. Any thread.
public func CFRunLoopRemoveTimer(_ loop: CFRunLoop, _ timer: CFRunLoopTimer?, _ mode: CFRunLoopMode) {
    guard let timer else { return }
    loop.remove(timer.native, forMode: mode.native)
}

/// Is the timer in that mode? Any thread.
public func CFRunLoopContainsTimer(_ loop: CFRunLoop, _ timer: CFRunLoopTimer?, _ mode: CFRunLoopMode) -> Bool {
    guard let timer else { return false }
    return loop.contains(timer.native, inMode: mode.native)
}

/// Removes the timer from its loop, for ever: `invalidate()`. Any thread.
public func CFRunLoopTimerInvalidate(_ timer: CFRunLoopTimer?) { timer?.invalidate() }

/// Can it still fire? Any thread. O(1).
public func CFRunLoopTimerIsValid(_ timer: CFRunLoopTimer?) -> Bool { timer?.isValid ?? false }

/// When it fires next: `fireDate`. 0 for `nil`. Any thread.
public func CFRunLoopTimerGetNextFireDate(_ timer: CFRunLoopTimer?) -> CFAbsoluteTime {
    timer?.fireDate.timeIntervalSinceReferenceDate ?? 0
}

/// Moves the timer: sets `fireDate`. Ignored when it is invalid. Any thread.
public func CFRunLoopTimerSetNextFireDate(_ timer: CFRunLoopTimer?, _ fireDate: CFAbsoluteTime) {
    timer?.fireDate = Date(timeIntervalSinceReferenceDate: fireDate)
}

/// The interval in seconds, 0 for a timer that fires once. Any thread. O(1).
public func CFRunLoopTimerGetInterval(_ timer: CFRunLoopTimer?) -> CFTimeInterval { timer?.timeInterval ?? 0 }

/// Does it fire again and again? Any thread. O(1).
public func CFRunLoopTimerDoesRepeat(_ timer: CFRunLoopTimer?) -> Bool { CFRunLoopTimerGetInterval(timer) > 0 }

/// How many seconds late it may fire, to share a wake-up with others: `tolerance`. Any thread. O(1).
public func CFRunLoopTimerGetTolerance(_ timer: CFRunLoopTimer?) -> CFTimeInterval { timer?.tolerance ?? 0 }

/// Sets `tolerance`. Any thread.
public func CFRunLoopTimerSetTolerance(_ timer: CFRunLoopTimer?, _ tolerance: CFTimeInterval) {
    timer?.tolerance = tolerance
}
#endif
