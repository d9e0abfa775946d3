internal import FoundationEssentials
internal import RunLoopKit
internal import Synchronization

/// Foundation's port: something that can be added to run loops so that they wait for it.
///
/// A `Port` by itself never has anything. It keeps the modes that it is in from being empty, and so a thread's loop running,
/// which is what it is most often used for. A subclass overrides `schedule(in:forMode:)` and `remove(from:forMode:)`, and is
/// told by them when a loop begins and ends to watch it; `FileDescriptorPort` is one.
open class Port {
    /// Posted to the default center by `invalidate()`, with the port as its object. A subclass whose `invalidate()` does not call
    /// this one posts it too: it is how a loop learns that it can forget the port.
    public static let didBecomeInvalidNotification = NSNotification.Name("NSPortDidBecomeInvalidNotification")

    let source: RunLoopKit.RunLoop.Source
    private let isInvalidated = Atomic(false)

    /// Makes a port that never has anything.
    public init() {
        source = RunLoopKit.RunLoop.Source {}
    }

    init(source: RunLoopKit.RunLoop.Source) {
        self.source = source
    }

    deinit {
        source.invalidate()
    }

    /// Can it still have anything? Any thread.
    open var isValid: Bool { source.isValid }

    /// Takes the port out of all loops, for ever, and posts `didBecomeInvalidNotification`. Any thread. Twice is once.
    open func invalidate() {
        if isInvalidated.exchange(true, ordering: .acquiringAndReleasing) { return }
        source.invalidate()
        NotificationCenter.default.post(name: Self.didBecomeInvalidNotification, object: self)
    }

    /// Called by `RunLoop.add(_:forMode:)` when the port comes into a mode. This one keeps the mode from being empty; a subclass
    /// that wants that too calls it.
    open func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        // A loop whose thread has ended, or that came here through a fork, takes nothing.
        try? runLoop.native.add(source, forMode: mode.native)
    }

    /// Called by `RunLoop.remove(_:forMode:)` when the port leaves a mode.
    open func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        runLoop.native.remove(source, forMode: mode.native)
    }
}

/// A name from Apple's platforms. There are no messages here: it keeps a loop running, as `Port` does.
public typealias NSMachPort = Port

extension Port: NSObjectProtocol, Hashable {
    /// Are these the same port? O(1).
    public static func == (a: Port, b: Port) -> Bool { a === b }

    /// Hashes the port's identity. O(1).
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
