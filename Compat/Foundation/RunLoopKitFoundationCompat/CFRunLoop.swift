// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
public import FoundationEssentials
public import RunLoopKit

// The functions of CFRunLoop that programs call beside Foundation's RunLoop, mostly to stop a loop, which that can't. The names are
// Apple's; the types are those of this module and of RunLoopKit, so nothing has to be converted.

/// A run loop: RunLoopKit's, which is Sendable, so a loop can be kept to be stopped on another thread.
public typealias CFRunLoop = RunLoopKit.RunLoop
/// Why a run ended.
public typealias CFRunLoopRunResult = RunLoopKit.RunLoop.RunResult
/// The name of a mode.
public typealias CFRunLoopMode = RunLoop.Mode

extension RunLoop.Mode {
    /// The mode in which a loop normally runs, by CFRunLoopMode's name for it.
    public static var defaultMode: RunLoop.Mode { .default }
    /// Stands for all common modes, by CFRunLoopMode's name for it.
    public static var commonModes: RunLoop.Mode { .common }
}

/// The mode in which a loop normally runs.
public var kCFRunLoopDefaultMode: CFRunLoopMode { .default }
/// Stands for all common modes.
public var kCFRunLoopCommonModes: CFRunLoopMode { .common }

extension RunLoop {
    /// The loop for the CFRunLoop functions: `native`. O(1).
    public func getCFRunLoop() -> CFRunLoop { native }

    /// Ends the innermost run of the loop at the end of its iteration, as `CFRunLoopStop` does: one call of `run(mode:before:)`, but not
    /// `run()` and `run(until:)`, which go on with the next. Any thread. O(1).
    public func _stop() { native.stop() }
}

/// The calling thread's loop. O(1).
@available(*, noasync, message: "A task may continue on another thread, whose loop is another one.")
public func CFRunLoopGetCurrent() -> CFRunLoop { .current }

/// The loop of the initial thread. Any thread. O(1).
public func CFRunLoopGetMain() -> CFRunLoop { .main }

/// Runs the calling thread's loop in the default mode until it is stopped, or until nothing can happen in the mode.
@available(*, noasync, message: "Running a loop blocks its thread.")
public func CFRunLoopRun() { CFRunLoop.current.run() }

/// Runs the calling thread's loop in a mode for at most that many seconds: 0 or less is one iteration that does not wait. A number that is
/// not one, or beyond 292 years, is no limit.
@available(*, noasync, message: "Running a loop blocks its thread.")
@discardableResult
public func CFRunLoopRunInMode(
    _ mode: CFRunLoopMode, _ seconds: TimeInterval, _ returnAfterSourceHandled: Bool
) -> CFRunLoopRunResult {
    let limit = Duration(clamping: seconds)
    return CFRunLoop.current.run(mode: mode.native, for: limit, returnAfterSourceHandled: returnAfterSourceHandled)
}

/// Ends the innermost run of a loop at the end of its iteration. Any thread. O(1).
public func CFRunLoopStop(_ loop: CFRunLoop) { loop.stop() }

/// Wakes a loop that sleeps. Any thread. O(1).
public func CFRunLoopWakeUp(_ loop: CFRunLoop) { loop.wakeUp() }

/// Is the loop asleep? Any thread. O(1).
public func CFRunLoopIsWaiting(_ loop: CFRunLoop) -> Bool { loop.isWaiting }

/// The mode of the loop's innermost run, `nil` if none is active. O(1).
public func CFRunLoopCopyCurrentMode(_ loop: CFRunLoop) -> CFRunLoopMode? {
    loop.currentMode.map(CFRunLoopMode.init(native:))
}

/// Makes a mode common, for ever: what was and will be added to the common modes is in it, too. Any thread.
public func CFRunLoopAddCommonMode(_ loop: CFRunLoop, _ mode: CFRunLoopMode) { loop.addCommonMode(mode.native) }

/// Performs a block once on the loop's thread, when the loop runs in the mode. Wakes the loop, which CFRunLoop's function does not. Any
/// thread.
public func CFRunLoopPerformBlock(_ loop: CFRunLoop, _ mode: CFRunLoopMode, _ block: @escaping @Sendable () -> Void) {
    loop.perform(inModes: [mode.native], block)
}

/// The same, for a mode by its name.
public func CFRunLoopPerformBlock(_ loop: CFRunLoop, _ mode: String, _ block: @escaping @Sendable () -> Void) {
    CFRunLoopPerformBlock(loop, CFRunLoopMode(mode), block)
}
#endif
