public import FoundationEssentials
internal import RunLoopKit
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// Operation queues are not here: an observer is called by who posts, and says so with `nil`.
public enum OperationQueue {}

extension NotificationCenter {
    /// Has a block called for each notification of that name and sender, on the thread that posts it.
    ///
    /// Blocks are called in the order of their addition. Any thread.
    ///
    /// - Parameters:
    ///   - name: `nil` for every name.
    ///   - obj: `nil` for every sender. An object is told by its identity, and not kept; a value by equality.
    ///   - queue: `nil`; there is no other.
    /// - Returns: a token for `removeObserver(_:)`. The block stays as long as the center, or until then; dropping the token
    ///   changes nothing.
    public func addObserver(
        forName name: NSNotification.Name?, object obj: Any?, queue: OperationQueue?,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
        let observer = NotificationObserver(name, obj, block)
        NotificationObservers.add(observer, to: self)
        return observer
    }

    /// Ends an observation. When it returns, the block may still be running on another thread; it is not called again. What is
    /// not a token of this center is ignored. Any thread, the block too. O(observers).
    public func removeObserver(_ observer: Any) {
        guard let observer = observer as? NotificationObserver else { return }
        NotificationObservers.remove(from: self) { $0 === observer }
    }

    /// Ends an observation if it is for that name and object; `nil` is any. O(observers).
    public func removeObserver(_ observer: Any, name aName: NSNotification.Name?, object: Any?) {
        guard let observer = observer as? NotificationObserver else { return }
        NotificationObservers.remove(from: self) {
            $0 === observer && (aName == nil || $0.name == aName) && (object == nil || $0.isFor(object))
        }
    }

    /// Calls the block of every observer that wants it, one after the other, on this thread, before it returns. Those added
    /// meanwhile are not called, those removed meanwhile neither. May be called in a block. O(observers).
    public func post(_ notification: Notification) {
        for observer in NotificationObservers.all(of: self) { observer.tell(notification) }
    }

    /// Posts a notification of that name, sender and information.
    public func post(
        name aName: NSNotification.Name, object anObject: Any?, userInfo aUserInfo: [AnyHashable: Any]? = nil
    ) {
        post(Notification(name: aName, object: anObject, userInfo: aUserInfo))
    }
}

/// One observation, and its token.
final class NotificationObserver: NSObjectProtocol, @unchecked Sendable {
    let name: NSNotification.Name?
    private let block: @Sendable (Notification) -> Void
    private let isRemoved = Atomic(false)
    // Never changed, but for the reference, which becomes nil when the object is gone: then there is nothing to observe.
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

    func tell(_ notification: Notification) {
        if let name, name != notification.name { return }
        if isFor(notification.object) && !isRemoved.load(ordering: .acquiring) { block(notification) }
    }
}

/// The observers of each center, in the order of their addition. A center that is gone leaves them behind until the next one
/// comes. A forked child has them all, and their lock free: the thread that forks waits until nobody else has it.
private enum NotificationObservers {
    private struct Entry: @unchecked Sendable {
        weak var center: NotificationCenter?
        var observers: [NotificationObserver] = []
    }

    private static let centers: Guarded<[ObjectIdentifier: Entry]> = {
        let result = pthread_atfork(
            { centers.lockForFork() }, { centers.unlockAfterFork() }, { centers.unlockAfterFork() })
        precondition(result == 0, "Memory ran out for what is to be done at a fork.")
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
