#if os(Linux)
public import RunLoopKit

// Rule numbers (R124, …) refer to docs/RULES.md.

/// Foundation's run loop, on top of RunLoopKit's: the same names and signatures, for programs that were written for it.
///
/// Every thread has one, which is made when the thread first reads `current`. It waits until a timer is due, a port has an
/// event, a block is to be performed, or the main dispatch queue has work, and then calls the block or port, on its own thread.
///
/// Only the loop's thread may call the `run` methods and `limitDate(forMode:)`; on another thread they have no effect. Any
/// thread may add, remove and perform. The type is not Sendable, as in Foundation; `native` is.
public final class RunLoop {
    /// RunLoopKit's loop below this one, for sources and observers, to stop and wake it, and to pass it to other threads. A
    /// file that uses it imports RunLoopKit too, and selects one `RunLoop`, for instance with `import class
    /// RunLoopKitFoundationCompat.RunLoop`.
    public let native: RunLoopKit.RunLoop

    let timers = TimerKeeper()
    let ports = PortKeeper()
    let notifications: NotificationPoster

    init(_ native: RunLoopKit.RunLoop) {
        self.native = native
        notifications = NotificationPoster(native)
    }

    /// The calling thread's loop, made by the first call; the same object each time (R124).
    ///
    /// It is a precondition failure if the process has run out of descriptors or memory, or if the thread is ending and its
    /// loop has been freed. O(1).
    @available(*, noasync, message: "A task may continue on another thread, whose loop is another one.")
    public static var current: RunLoop { RunLoops.current }

    /// The loop of the initial thread, from any thread; there it is the same as `current` (R124). O(1).
    public static var main: RunLoop { RunLoops.object(of: .main) }

    /// The mode of the innermost active run, `nil` when no run is active. O(1).
    public var currentMode: Mode? { native.currentMode.map(Mode.init(native:)) }

    /// Adds a timer to a mode, or to all common modes, present and future (R132). Any thread; a loop that sleeps in the mode is
    /// re-armed. No effect if the timer is there already, is invalid, or is in another thread's loop. O(log timers).
    ///
    /// The loop retains the timer until it is invalid.
    public func add(_ timer: Timer, forMode mode: Mode) {
        if timer.join(timers) && !native.addUnlessOver(timer.native, forMode: mode.native) {
            timers.letGo(timer)
            timer.leave(timers)
        }
    }

    /// Performs a block once on the loop's thread, when the loop next runs in the default mode, and wakes it for that (R131).
    /// Blocks are performed in the order of their calls. Any thread. A block is freed without having been performed if the
    /// thread ends first.
    public func perform(_ block: @escaping @Sendable () -> Void) {
        perform(inModes: [.default], block: block)
    }

    /// Performs a block once, when the loop next runs in one of `modes` (R131). With no modes it is never performed.
    public func perform(inModes modes: [Mode], block: @escaping @Sendable () -> Void) {
        native.perform(inModes: Set(modes.map(\.native)), block)
    }

    /// Called by the loop's thread while it ends, when the modes have been freed and no other thread can use them.
    func end() {
        timers.letGoOfAll()
        ports.letGoOfAll()
        notifications.end()
    }
}

extension RunLoop: NSObjectProtocol, Hashable, CustomStringConvertible {
    /// Are these the same loop? O(1).
    public static func == (a: RunLoop, b: RunLoop) -> Bool { a === b }

    /// Hashes the loop's identity. O(1).
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// A readable description of the loop. For people and logs.
    public var description: String { native.description }
}

@available(*, unavailable, message: "Pass RunLoop.native, which is Sendable.")
extension RunLoop: @unchecked Sendable {}
#endif
