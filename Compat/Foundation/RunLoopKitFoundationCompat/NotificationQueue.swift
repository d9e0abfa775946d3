#if os(Linux)
public import FoundationEssentials
internal import RunLoopKit

/// Foundation's notification queue: posts notifications later, when the loop of its thread has time, and merges equal ones.
///
/// A queue belongs to the thread that made it, whose loop posts its notifications; using it on another thread is a precondition
/// failure. Enqueued notifications are posted even if the queue is released, as long as the thread lives. Notifications are
/// posted in the order in which they were enqueued, over all queues of the thread. A run that is nested in an observer of one
/// of them posts no others.
open class NotificationQueue {
    /// When to post.
    public enum PostingStyle: UInt, Sendable {
        /// When the loop has nothing else to do and is about to sleep (R143, R148). Not before.
        case whenIdle = 1
        /// Before the loop sleeps, or checks whether it has to sleep, and when its run ends (R142).
        case asap = 2
        /// At once, after merging.
        case now = 3
    }

    /// Which notifications are merged: those of the same name, of the same sender, or of both.
    public struct NotificationCoalescing: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Any bits; unknown ones have no effect.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// No criterion.
        public static let none: NotificationCoalescing = []
        /// Those of the same name.
        public static let onName = NotificationCoalescing(rawValue: 1)
        /// Those of the same sender: objects by identity, values by equality, `nil` is the same as `nil`.
        public static let onSender = NotificationCoalescing(rawValue: 2)
    }

    private let center: NotificationCenter
    private let poster: NotificationPoster
    private let identity = NotificationPoster.QueueIdentity()

    /// The calling thread's queue for the default center; the same object each time (R141).
    open class var `default`: NotificationQueue { RunLoops.current.notifications.defaultQueue }

    /// Makes another queue of the calling thread, for a center (R141).
    public convenience init(notificationCenter: NotificationCenter) {
        self.init(notificationCenter, RunLoops.current.notifications)
    }

    init(_ center: NotificationCenter, _ poster: NotificationPoster) {
        self.center = center
        self.poster = poster
    }

    /// Enqueues a notification for the default mode, and removes those of the same name and sender.
    open func enqueue(_ notification: Notification, postingStyle: PostingStyle) {
        enqueue(notification, postingStyle: postingStyle, coalesceMask: [.onName, .onSender], forModes: nil)
    }

    /// Enqueues a notification at the end, and removes those that are the same by `coalesceMask` (R144). May be called while
    /// notifications are posted.
    ///
    /// - Parameters:
    ///   - postingStyle: when it is posted. With `.now` it is posted at once if no run is active or the active one is in one of
    ///     the modes; otherwise never.
    ///   - modes: the modes of the loop in which it may be posted; `.common` stands for all common ones (R145). `nil`: the
    ///     default mode.
    open func enqueue(
        _ notification: Notification, postingStyle: PostingStyle, coalesceMask: NotificationCoalescing,
        forModes modes: [RunLoop.Mode]?
    ) {
        dequeueNotifications(matching: notification, coalesceMask: coalesceMask)
        let entry = NotificationPoster.Entry(
            notification: notification, style: postingStyle, modes: Set(modes ?? [.default]), center: center,
            queue: identity)
        poster.add(entry)
    }

    /// Removes the notifications in this queue that are the same as `notification` by `coalesceMask`. With no criteria, none
    /// is.
    open func dequeueNotifications(matching notification: Notification, coalesceMask: NotificationCoalescing) {
        poster.remove { [identity] entry in
            entry.queue === identity && Self.isSameByMask(entry.notification, notification, coalesceMask)
        }
    }

    private static func isSameByMask(
        _ a: Notification, _ b: Notification, _ mask: NotificationCoalescing
    ) -> Bool {
        if mask.isDisjoint(with: [.onName, .onSender]) { return false }
        return (!mask.contains(.onName) || a.name == b.name)
            && (!mask.contains(.onSender) || isSame(a.object, b.object))
    }
}

extension NotificationQueue: NSObjectProtocol, Hashable {
    /// Are these the same queue? O(1).
    public static func == (a: NotificationQueue, b: NotificationQueue) -> Bool { a === b }

    /// Hashes the queue's identity. O(1).
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

@available(*, unavailable)
extension NotificationQueue: @unchecked Sendable {}
#endif
