extension RunLoop {
    /// Is told what a loop is about to do, on the loop's thread.
    ///
    /// Can be in several modes of one loop (R97). Observers never keep a mode from being empty (R23). An observer is told
    /// nothing of runs nested in its own action (R96). A loop keeps the observers it has; the action is freed when the
    /// observer becomes invalid, after its call if that is running (R98), or with the observer.
    public final class Observer: Sendable {
        /// What a loop tells. The values are those of CFRunLoopActivity.
        public struct Activities: OptionSet, Hashable, Sendable {
            /// The bits.
            public let rawValue: UInt32

            /// Any bits: unknown ones never happen.
            public init(rawValue: UInt32) {
                self.rawValue = rawValue
            }

            /// A run begins, a nested one too (R99).
            public static let entry = Activities(rawValue: 1 << 0)
            /// An iteration begins; due timers will be served in it.
            public static let beforeTimers = Activities(rawValue: 1 << 1)
            /// Signalled sources are served next.
            public static let beforeSources = Activities(rawValue: 1 << 2)
            /// The loop is about to sleep, if it has nothing to do.
            public static let beforeWaiting = Activities(rawValue: 1 << 5)
            /// The loop has slept, and has not served yet what woke it.
            public static let afterWaiting = Activities(rawValue: 1 << 6)
            /// A run ends, a nested one too.
            public static let exit = Activities(rawValue: 1 << 7)
            /// All of them, future ones included.
            public static let all = Activities(rawValue: 0x0FFF_FFFF)
        }

        let core: ObserverCore
        /// As for a timer.
        @exclusivity(unchecked) private nonisolated(unsafe) var action: Action?

        private struct Action: ~Copyable {
            let body: (Observer, Activities) -> Void
        }

        /// Its closure is the main actor's, so only the main loop may have it. Set while it is made, and never again.
        @exclusivity(unchecked) nonisolated(unsafe) var isMainActors = false

        /// Makes an observer, in no loop yet.
        ///
        /// - Parameters:
        ///   - activities: what it wants to be told.
        ///   - repeats: `false`: told once in all, whichever comes first, and then invalid (R95).
        ///   - order: lower is told first, for every activity; equal ones in the order of their addition (R93). Clamped to
        ///     32 bits.
        ///   - action: called on the loop's thread with this observer and the one activity that happens.
        public init(
            _ activities: Activities, repeats: Bool = true, order: Int = 0,
            _ action: sending @escaping (Observer, Activities) -> Void
        ) {
            core = ObserverCore(activities: activities.rawValue, repeats: repeats, order: Int32(clamping: order))
            self.action = Action(body: consume action)
            core.join(self)
        }

        deinit {
            core.release()
        }

        /// Never called twice at a time: an observer is told nothing while it is told something.
        @inline(__always)
        func observe(_ activity: Activities) {
            switch action {
            case .some(let action): action.body(self, activity)
            case .none: break
            }
        }

        func end() { _ = action.take() }

        /// What it wants to be told, as created. Also of an invalid observer (R113). O(1).
        public var activities: Activities { Activities(rawValue: core.activities) }

        /// Is it told more than once? As created. O(1).
        public var repeats: Bool { core.repeats }

        /// Its place among the observers of a mode, as created. O(1).
        public var order: Int { Int(core.order) }

        /// Can it still be told anything? O(1).
        public var isValid: Bool { core.isValid }

        /// Removes the observer everywhere, for ever, and frees its action, after its call if that is running (R98). Twice
        /// is once. Any thread; does not wait for an action that runs on another thread (R119). O(modes).
        public func invalidate() { withExtendedLifetime(self) { core.invalidate() } }
    }

    /// Adds an observer to a mode, or to all common modes, now and later (R18). Any thread. Makes the mode if needed. Twice
    /// is once; told from the next activity on (R94). O(observers) per mode.
    ///
    /// An observer is in one loop at a time: it is a precondition failure if another one has it.
    ///
    /// - Returns: is the observer in the mode now? `false` if it is invalid, if the loop's thread has ended, or if the loop
    ///   was made before a fork and this is the child.
    @discardableResult
    public func add(_ observer: Observer, forMode mode: Mode) -> Bool {
        checkIsolation(observer.isMainActors)
        return didJoin(core.add(observer.core, mode.name))
    }

    /// Removes an observer from a mode, or from all common modes (R19, R20). It stays valid and may be added again. Nothing
    /// if it is not there. If the loop is just telling its observers something, this one may still be told (R94). Any
    /// thread. O(observers) per mode, O(modes).
    public func remove(_ observer: Observer, forMode mode: Mode) { core.remove(observer.core, mode.name) }

    /// Is the observer in the mode? For `.common`: is it one of the common items (R20)? O(observers).
    public func contains(_ observer: Observer, inMode mode: Mode) -> Bool { core.contains(observer.core, mode.name) }
}
