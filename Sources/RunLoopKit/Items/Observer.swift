#if os(Linux)
internal import CRunLoopCore

extension RunLoop {
    /// Calls its action when a loop is about to do something, on the loop's thread.
    ///
    ///     let observer = RunLoop.Observer([.beforeWaiting, .afterWaiting]) {
    ///         _, activity in
    ///         print(activity == .beforeWaiting ? "sleeps" : "wakes")
    ///     }
    ///     try loop.add(observer, forMode: .common)
    ///
    /// It can be in several modes of one loop (R97). Observers never keep a mode from being empty (R23). An observer is not
    /// notified of runs nested in its own action (R96). A loop retains its observers. The action is freed when the observer
    /// becomes invalid, after its call if that is running (R98), or with the observer.
    ///
    /// Sendable because the action is called by the loop's thread alone, and freed when nobody calls it any more.
    public final class Observer: Item, @unchecked Sendable {
        /// The activities of a loop of which an observer is notified. The values are those of CFRunLoopActivity.
        ///
        ///     let observer = RunLoop.Observer([.entry, .exit]) { _, activity in
        ///         count += activity.contains(.entry) ? 1 : -1
        ///     }
        ///     try loop.add(observer, forMode: .common)
        public struct Activities: OptionSet, Hashable, Sendable {
            /// The bits.
            public let rawValue: UInt32

            /// Any bits: unknown ones never happen.
            public init(rawValue: UInt32) {
                self.rawValue = rawValue
            }

            /// A run begins, a nested one too (R99).
            public static let entry = Activities(rawValue: 1 << 0)
            /// An iteration begins; it will serve due timers.
            public static let beforeTimers = Activities(rawValue: 1 << 1)
            /// Signalled sources are served next.
            public static let beforeSources = Activities(rawValue: 1 << 2)
            /// The loop is about to sleep, unless it has something to do.
            public static let beforeWaiting = Activities(rawValue: 1 << 5)
            /// The loop has slept, and has not yet served the event that woke it.
            public static let afterWaiting = Activities(rawValue: 1 << 6)
            /// A run ends, a nested one too.
            public static let exit = Activities(rawValue: 1 << 7)
            /// Every activity, also those of later versions.
            public static let all = Activities(rawValue: 0x0FFF_FFFF)
        }

        /// As for a timer.
        @exclusivity(unchecked) private var action: Action?

        private struct Action: ~Copyable {
            let body: (Observer, Activities) -> Void
        }

        /// Makes an observer, in no loop yet.
        ///
        /// - Parameters:
        ///   - activities: the activities for which the action is called.
        ///   - repeats: `false`: the action is called once, for the first of them, and then the observer is invalid (R95).
        ///   - order: lower is notified first, for every activity; observers of equal order in the order of their addition
        ///     (R93). Clamped to 32 bits.
        ///   - action: called on the loop's thread with this observer and the activity.
        public init(
            _ activities: Activities, repeats: Bool = true, order: Int = 0,
            _ action: sending @escaping (Observer, Activities) -> Void
        ) {
            unsafe self.action = Action(body: consume action)
            let core = unsafe makeObserver(activities: activities.rawValue, repeats: repeats, order: order)
            unsafe super.init(core, .observer)
            unsafe attachObserver(core, to: self)
        }

        deinit {
            unsafe runloop_observer_release(core)
        }

        /// Calls do not overlap: an observer is not notified of anything inside its own action.
        @inline(__always)
        func observe(_ activity: Activities) {
            switch unsafe action {
            case .some(let action): action.body(self, activity)
            case .none: break
            }
        }

        func end() { _ = unsafe action.take() }

        /// The activities for which it is notified, as created. Also of an invalid observer (R113). O(1).
        public var activities: Activities {
            unsafe Activities(rawValue: runloop_observer_get_activities(core).rawValue)
        }

        /// Is it notified more than once? As created. O(1).
        public var repeats: Bool { unsafe runloop_observer_repeats(core) }
    }
}
#endif
