#if os(Linux)
internal import FoundationEssentials
internal import RunLoopKit
internal import Synchronization

/// Foundation's port: something that can be added to run loops so that they wait for it.
///
/// A `Port` by itself never has an event. It keeps its modes from being empty, and so a thread's loop running, which is its
/// most frequent use. A subclass overrides `schedule(in:forMode:)` and `remove(from:forMode:)`, which are called when a loop
/// starts and stops watching it; `FileDescriptorPort` is one.
open class Port {
    /// Posted to the default center by `invalidate()`, with the port as its object. A subclass whose `invalidate()` does not
    /// call this one must post it too, because a loop releases the port when it is posted.
    public static let didBecomeInvalidNotification = NSNotification.Name("NSPortDidBecomeInvalidNotification")

    let source: RunLoopKit.RunLoop.Source
    private let isInvalidated = Atomic(false)

    /// Makes a port that never has an event.
    public init() {
        source = RunLoopKit.RunLoop.Source {}
    }

    init(source: RunLoopKit.RunLoop.Source) {
        self.source = source
    }

    deinit {
        source.invalidate()
    }

    /// Can it still have an event? Any thread.
    open var isValid: Bool { source.isValid }

    /// Removes the port from all loops, for ever, and posts `didBecomeInvalidNotification`. Any thread. A second call has no
    /// effect.
    open func invalidate() {
        if isInvalidated.exchange(true, ordering: .acquiringAndReleasing) { return }
        source.invalidate()
        NotificationCenter.default.post(name: Self.didBecomeInvalidNotification, object: self)
    }

    /// Called by `RunLoop.add(_:forMode:)` when the port is added to a mode. This implementation keeps the mode from being
    /// empty; a subclass calls it to do the same.
    open func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        // A loop whose thread has ended, or that a forked child inherited, refuses it.
        try? runLoop.native.add(source, forMode: mode.native)
    }

    /// Called by `RunLoop.remove(_:forMode:)` when the port is removed from a mode.
    open func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        runLoop.native.remove(source, forMode: mode.native)
    }
}

/// A name from Apple's platforms. It has no messages on Linux, and keeps a loop running as `Port` does.
public typealias NSMachPort = Port

extension Port: NSObjectProtocol, Hashable {
    /// Are these the same port? O(1).
    public static func == (a: Port, b: Port) -> Bool { a === b }

    /// Hashes the port's identity. O(1).
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
#endif
