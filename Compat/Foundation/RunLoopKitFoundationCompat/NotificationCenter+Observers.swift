#if os(Linux)
public import FoundationEssentials
internal import RunLoopKit
internal import Synchronization

/// There are no operation queues: the thread that posts calls the observer, and `queue` is always `nil`.
public enum OperationQueue {}

// Foundation has the same methods for the same class. In a module that has files with either, each file sees the methods of both, unless
// MemberImportVisibility is enabled. These are disfavoured, so a call in a file with Foundation is one of Foundation's.
extension NotificationCenter {
    /// Adds a block that is called for each notification of that name and sender, on the thread that posts it.
    ///
    /// Blocks are called in the order of their addition. Any thread.
    ///
    /// - Parameters:
    ///   - name: `nil` for every name.
    ///   - obj: `nil` for every sender. An object is compared by identity, and not retained; a value by equality.
    ///   - queue: `nil`; there is no other value.
    /// - Returns: a token for `removeObserver(_:)`. The block is kept as long as the center, or until then; releasing the token
    ///   has no effect.
    @_disfavoredOverload
    public func addObserver(
        forName name: NSNotification.Name?, object obj: Any?, queue: OperationQueue?,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
        let observer = NotificationObserver(name, obj, block)
        NotificationObservers.add(observer, to: self)
        return observer
    }

    /// Ends an observation. When it returns, the block may still be running on another thread; it is not called again. Anything
    /// that is not a token of this center is ignored. Any thread, the block too. O(observers).
    @_disfavoredOverload
    public func removeObserver(_ observer: Any) {
        guard let observer = observer as? NotificationObserver else { return }
        NotificationObservers.remove(from: self) { $0 === observer }
    }

    /// Ends an observation if it is for that name and object; `nil` is any. O(observers).
    @_disfavoredOverload
    public func removeObserver(_ observer: Any, name aName: NSNotification.Name?, object: Any?) {
        guard let observer = observer as? NotificationObserver else { return }
        NotificationObservers.remove(from: self) {
            $0 === observer && (aName == nil || $0.name == aName) && (object == nil || $0.isFor(object))
        }
    }

    /// Calls the block of every observer of it, one after the other, on this thread, before it returns. Blocks that are added
    /// or removed during the call are not called. May be called in a block. O(observers).
    @_disfavoredOverload
    public func post(_ notification: Notification) {
        for observer in NotificationObservers.all(of: self) { observer.notify(notification) }
    }

    /// Posts a notification of that name, sender and information.
    @_disfavoredOverload
    public func post(
        name aName: NSNotification.Name, object anObject: Any?, userInfo aUserInfo: [AnyHashable: Any]? = nil
    ) {
        post(Notification(name: aName, object: anObject, userInfo: aUserInfo))
    }
}

/// An observation, which is its own token.
final class NotificationObserver: NSObjectProtocol, @unchecked Sendable {
    let name: NSNotification.Name?
    private let block: @Sendable (Notification) -> Void
    private let isRemoved = Atomic(false)
    // Never changed, except for the reference, which becomes nil when the object is freed: then there is nothing to observe.
    private let isForAny: Bool
    private weak var object: AnyObject?
    private let value: Any?

    init(_ name: NSNotification.Name?, _ sender: Any?, _ block: @escaping @Sendable (Notification) -> Void) {
        self.name = name
        self.block = block
        isForAny = sender == nil
        object = sender.flatMap(asObject)
        value = object == nil ? sender : nil
    }

    func isFor(_ sender: Any?) -> Bool {
        if isForAny { return true }
        guard let sender else { return false }
        return isSame(sender, object ?? value)
    }

    func remove() {
        isRemoved.store(true, ordering: .releasing)
    }

    func notify(_ notification: Notification) {
        if let name, name != notification.name { return }
        if isFor(notification.object) && !isRemoved.load(ordering: .acquiring) { block(notification) }
    }
}

/// The observers of each center, in the order of their addition. Those of a freed center remain until the next center is used.
/// A forked child has them all, and their lock is free, because the forking thread takes it.
private enum NotificationObservers {
    /// Behind the lock of the center.
    private struct Entry: @unchecked Sendable {
        weak var center: NotificationCenter?
        var observers: [NotificationObserver] = []
    }

    private static let centers: Guarded<[ObjectIdentifier: Entry]> = {
        let result = pthread_atfork(
            { centers.lockForFork() }, { centers.unlockAfterFork() }, { centers.unlockAfterFork() })
        precondition(result == 0, "Memory ran out for the fork handlers.")
        return Guarded([:])
    }()

    static func add(_ observer: NotificationObserver, to center: NotificationCenter) {
        let key = ObjectIdentifier(center)
        let gone: [Entry] = centers.withLock { centers in
            var gone: [Entry] = []
            if centers[key]?.center == nil {
                gone = centers.values.filter { $0.center == nil }
                centers = centers.filter { $0.value.center != nil }
                centers[key] = Entry(center: center)
            }
            centers[key]?.observers.append(observer)
            return gone
        }
        // Their blocks are freed outside the lock.
        withExtendedLifetime(gone) {}
    }

    static func all(of center: NotificationCenter) -> [NotificationObserver] {
        centers.withLock { centers in
            guard let entry = centers[ObjectIdentifier(center)], entry.center != nil else { return [] }
            return entry.observers
        }
    }

    static func remove(from center: NotificationCenter, where isMeant: (NotificationObserver) -> Bool) {
        let key = ObjectIdentifier(center)
        guard let observer = all(of: center).first(where: isMeant) else { return }
        observer.remove()
        centers.withLock { centers in
            centers[key]?.observers.removeAll { $0 === observer }
        }
    }
}
#endif
