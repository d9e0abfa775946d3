#if os(Linux)
internal import FoundationEssentials
internal import RunLoopKit

/// The notifications of all queues of a thread, in their order, and the observer that posts them. Used on the loop's thread
/// only.
final class NotificationPoster: @unchecked Sendable {
    /// Identifies a queue, even after it has been freed.
    final class QueueIdentity {}

    struct Entry {
        let notification: Notification
        let style: NotificationQueue.PostingStyle
        let modes: Set<RunLoop.Mode>
        let center: NotificationCenter
        let queue: QueueIdentity
        /// Greater than those of all notifications that were enqueued before.
        fileprivate(set) var serial = 0
    }

    private let loop: RunLoopKit.RunLoop
    private var entries: [Entry] = []
    private var lastSerial = 0
    private var observer: RunLoopKit.RunLoop.Observer?
    private var keptQueue: NotificationQueue?

    init(_ loop: RunLoopKit.RunLoop) {
        self.loop = loop
    }

    /// Kept from its first use to the end of the thread. It retains this object.
    var defaultQueue: NotificationQueue {
        if let keptQueue { return keptQueue }
        let queue = NotificationQueue(NotificationCenter.default, self)
        keptQueue = queue
        return queue
    }

    func add(_ entry: Entry) {
        checkThread()
        if entry.style == .now {
            if loop.currentMode == nil || mayPost(entry) { entry.center.post(entry.notification) }
            return
        }
        lastSerial += 1
        entries.append(entry)
        entries[entries.count - 1].serial = lastSerial
        let observer = observer ?? makeObserver()
        for mode in entry.modes { loop.addUnlessOver(observer, forMode: mode.native) }
    }

    func remove(where isMeant: (Entry) -> Bool) {
        checkThread()
        // They are freed after the change: the end of what is in them may enqueue.
        withExtendedLifetime(entries.filter(isMeant)) { entries.removeAll(where: isMeant) }
    }

    /// The thread ends: the remaining notifications are never posted.
    func end() {
        withExtendedLifetime(entries) { entries = [] }
        keptQueue = nil
        observer?.invalidate()
    }

    private func checkThread() {
        precondition(loop.isCurrent, "A notification queue is used by the thread that made it.")
    }

    /// Notified last, so that the other observers have run when it checks whether the loop is idle.
    private func makeObserver() -> RunLoopKit.RunLoop.Observer {
        let observer = RunLoopKit.RunLoop.Observer([.beforeWaiting, .exit], order: .max) { [weak self] _, activity in
            self?.arrive(at: activity)
        }
        self.observer = observer
        return observer
    }

    private func arrive(at activity: RunLoopKit.RunLoop.Observer.Activities) {
        post(.asap) { true }
        if activity == .exit { return }
        post(.whenIdle) { !has(.asap) && loop.isIdle }
        // The blocks may have enqueued more, which is for the next iteration. That must not wait for a sleep.
        if has(.asap) || (has(.whenIdle) && loop.isIdle) { loop.wakeUp() }
    }

    /// Posts the present notifications of a style, in order, as long as the condition holds.
    private func post(_ style: NotificationQueue.PostingStyle, while isTime: () -> Bool) {
        let newest = lastSerial
        func next() -> Int? {
            entries.firstIndex { $0.style == style && $0.serial <= newest && mayPost($0) }
        }
        while let index = next(), isTime() {
            let entry = entries.remove(at: index)
            entry.center.post(entry.notification)
        }
    }

    private func has(_ style: NotificationQueue.PostingStyle) -> Bool {
        entries.contains { $0.style == style && mayPost($0) }
    }

    private func mayPost(_ entry: Entry) -> Bool {
        guard let mode = loop.currentMode else { return false }
        return entry.modes.contains(RunLoop.Mode(native: mode))
            || (entry.modes.contains(.common) && loop.isCommon(mode))
    }
}
#endif
