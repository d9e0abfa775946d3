internal import CRunLoopCore

extension RunLoop {
    /// Calls its action when a loop is about to do something, on the loop's thread.
    ///
    /// It can be in several modes of one loop (R97). Observers never keep a mode from being empty (R23). An observer is not
    /// notified of runs nested in its own action (R96). A loop retains its observers. The action is freed when the observer
    /// becomes invalid, after its call if that is running (R98), or with the observer.
    public final class Observer: Sendable {
        /// The activities of a loop. The values are those of CFRunLoopActivity.
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
            /// All of them, future ones included.
            public static let all = Activities(rawValue: 0x0FFF_FFFF)
        }

        /// The `runloop_observer *`, to which this object has the only reference besides those of loops.
        nonisolated(unsafe) let core: OpaquePointer
        /// As for a timer.
        @exclusivity(unchecked) private nonisolated(unsafe) var action: Action?

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
            core = makeObserver(activities: activities.rawValue, repeats: repeats, order: order)
            self.action = Action(body: consume action)
            attachObserver(core, to: self)
        }

        deinit {
            runloop_observer_release(core)
        }

        /// Calls do not overlap: an observer is not notified of anything inside its own action.
        @inline(__always)
        func observe(_ activity: Activities) {
            switch action {
            case .some(let action): action.body(self, activity)
            case .none: break
            }
        }

        func end() { _ = action.take() }

        /// The activities for which it is notified, as created. Also of an invalid observer (R113). O(1).
        public var activities: Activities { Activities(rawValue: runloop_observer_get_activities(core).rawValue) }

        /// Is it notified more than once? As created. O(1).
        public var repeats: Bool { runloop_observer_repeats(core) }

        /// Its position among the observers of a mode, as created. O(1).
        public var order: Int { Int(runloop_observer_get_order(core)) }

        /// Can it still be notified? O(1).
        public var isValid: Bool { runloop_observer_is_valid(core) }

        /// Removes the observer from all modes, for ever, and frees its action, after its call if that is running (R98). A second
        /// call has no effect. Any thread; does not wait for an action that runs on another thread (R119). O(modes).
        public func invalidate() { withExtendedLifetime(self) { runloop_observer_invalidate(core) } }
    }

    /// Adds an observer to a mode, or to all common modes, present and future (R18). Any thread. Makes the mode if needed. No
    /// effect if the observer is there already. It is notified from the next activity on (R94). O(observers) per mode.
    ///
    /// - Throws: `invalid` for an invalidated observer; `inAnotherLoop`, because an observer is in one loop at a time;
    ///   `loopFinished`, `inheritedAcrossFork`, `outOfMemory`. After an error the observer is where it was before.
    ///
    /// An item without a name is named by the place of the call (``Observer/name``).
    public func add(
        _ observer: Observer, forMode mode: Mode, fileID: StaticString = #fileID, line: UInt = #line
    ) throws(RunLoop.Error) {
        observer.setNameIfNone(fileID, line)
        let result = runloop_add_observer(core, observer.core, mode.name)
        if result < 0 { throw Error(result: result) }
    }

    /// Adds an observer of ours, which the caller does without where the loop is over. Memory that has run out ends the program.
    @discardableResult
    package func addUnlessOver(
        _ observer: Observer, forMode mode: Mode, fileID: StaticString = #fileID, line: UInt = #line
    ) -> Bool {
        observer.setNameIfNone(fileID, line)
        return wasAdded(runloop_add_observer(core, observer.core, mode.name))
    }

    /// Removes an observer from a mode, or from all common modes (R19, R20). It stays valid and may be added again. No effect
    /// if it is not there. If the loop is notifying its observers at that moment, this one may still be notified (R94). Any
    /// thread. O(observers) per mode, O(modes).
    public func remove(_ observer: Observer, forMode mode: Mode) {
        runloop_remove_observer(core, observer.core, mode.name)
    }

    /// Is the observer in the mode? For `.common`: is it one of the common items (R20)? O(observers).
    public func contains(_ observer: Observer, inMode mode: Mode) -> Bool {
        runloop_contains_observer(core, observer.core, mode.name)
    }
}
