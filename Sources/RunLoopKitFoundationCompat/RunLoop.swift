public import RunLoopKit

/// Foundation's run loop, on top of RunLoopKit's: the same names and signatures, for programs that were written for it.
///
/// Every thread has one, made when the thread first asks for `current`. It waits until a timer is due, a port has something, a
/// block is to be performed, or the main dispatch queue has work, and calls whoever waits for it, on its own thread.
///
/// Running, and `limitDate(forMode:)`, belong to the loop's thread; from another one they do nothing. Adding, removing and
/// performing may be done from any thread. The type is not Sendable, as in Foundation; `native` is.
///
/// "Rule" numbers (R124, …) refer to docs/RULES.md.
public final class RunLoop {
    /// RunLoopKit's loop below this one: for sources, observers, stopping, waking, and for handing it to other threads. A file
    /// that uses it imports RunLoopKit too, and then says which `RunLoop` it means, for instance by
    /// `import class RunLoopKitFoundationCompat.RunLoop`.
    public let native: RunLoopKit.RunLoop

    let timers = TimerKeeper()
    let ports = PortKeeper()
    let notifications: NotificationPoster

    init(_ native: RunLoopKit.RunLoop) {
        self.native = native
        notifications = NotificationPoster(native)
    }

    /// The calling thread's loop, made at the first call; the same object each time (R124).
    ///
    /// A program that has run out of descriptors or memory, or a thread that is already past the end of its loop, cannot have
    /// one: that is a precondition failure. O(1).
    @available(*, noasync, message: "A task may continue on another thread, whose loop is another one.")
    public static var current: RunLoop { RunLoops.current }

    /// The loop of the initial thread, from any thread; there it is the same as `current` (R124). O(1).
    public static var main: RunLoop { RunLoops.object(of: .main) }

    /// The mode of the innermost active run, `nil` when no run is active. O(1).
    public var currentMode: Mode? { native.currentMode.map(Mode.init(native:)) }

    /// Adds a timer to a mode, or to all common modes, now and later (R132). Any thread; a loop that sleeps in the mode takes
    /// note of it. Twice is once. Ignored if the timer is invalid, or in another thread's loop. O(log timers).
    ///
    /// The loop keeps the timer until that is invalid.
    public func add(_ timer: Timer, forMode mode: Mode) {
        if timer.join(timers) && !native.add(timer.native, forMode: mode.native) {
            timers.letGo(timer)
            timer.leave(timers)
        }
    }

    /// Performs a block once on the loop's thread, when the loop next runs in the default mode, and wakes it for that (R131).
    /// Blocks are performed in their order. Any thread. Freed unused if the thread ends before.
    public func perform(_ block: @escaping @Sendable () -> Void) {
        perform(inModes: [.default], block: block)
    }

    /// Performs a block once, when the loop next runs in one of `modes` (R131). Without modes it is never performed.
    public func perform(inModes modes: [Mode], block: @escaping @Sendable () -> Void) {
        native.perform(inModes: Set(modes.map(\.native)), block)
    }

    /// On the loop's thread, which ends: the modes are gone, and nobody can come to them any more.
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

    /// A readable account of the loop. For people and logs.
    public var description: String { native.description }
}

@available(*, unavailable, message: "Hand over RunLoop.native, which is Sendable.")
extension RunLoop: @unchecked Sendable {}
