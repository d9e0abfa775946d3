internal import Synchronization

extension RunLoop {
    /// Something that a loop was asked to do, and that can still be called off.
    ///
    /// Dropping a registration does not cancel it, and keeping one keeps nothing of what is to be done. Any thread.
    public final class Registration: Sendable {
        /// What has become of it.
        public enum State: UInt8, Hashable, Sendable {
            /// It stands: it is still to be done, or goes on.
            case active
            /// It was done, or has begun to be: too late to call it off.
            case done
            /// It was called off.
            case cancelled
            /// It is not done any more, because the loop's thread has ended, or never was, because that had ended before or
            /// there was no mode to do it in.
            case abandoned
        }

        /// How it is called off.
        private enum Way {
            /// One reference to a timer that keeps a closure, and lets go of it when it is over.
            case timer(TimerCore)
            case action(@Sendable () -> Void)
        }

        private let fate: Fate
        private let way: Way

        init(_ fate: Fate, cancel action: @escaping @Sendable () -> Void) {
            self.fate = fate
            way = .action(action)
        }

        /// Takes over the caller's reference.
        init(_ fate: Fate, _ timer: TimerCore) {
            self.fate = fate
            way = .timer(timer)
        }

        deinit {
            if case .timer(let timer) = way { timer.release() }
        }

        /// What has become of it. An answer about another thread's loop may be old when it arrives, but only `active` ever
        /// changes. O(1).
        public var state: State { fate.state }

        /// Calls it off: what has not begun yet will not begin, and its closure is freed. Does not wait for a closure that
        /// runs on another thread right now (R119). Without effect unless it is active: twice is once, late is nothing.
        public func cancel() { callOff() }

        /// Cancels it: was it active?
        @discardableResult
        func callOff() -> Bool {
            if !fate.settle(.cancelled) { return false }
            switch way {
            case .timer(let timer): timer.invalidate()
            case .action(let action): action()
            }
            return true
        }
    }
}

/// The state of a registration, which is active until one of the others settles it.
final class Fate: Sendable {
    private let value = Atomic(RunLoop.Registration.State.active.rawValue)

    var state: RunLoop.Registration.State {
        RunLoop.Registration.State(rawValue: value.load(ordering: .sequentiallyConsistent)) ?? .active
    }

    /// Is it this that settles it?
    func settle(_ state: RunLoop.Registration.State) -> Bool {
        value.compareExchange(
            expected: RunLoop.Registration.State.active.rawValue, desired: state.rawValue,
            ordering: .sequentiallyConsistent
        ).exchanged
    }
}

/// Held by what a loop has for a registration and by nothing else: when the loop lets go of that, it is over.
final class EndOfRegistration: Sendable {
    let fate: Fate
    private let action: (@Sendable () -> Void)?

    init(_ fate: Fate, _ action: (@Sendable () -> Void)? = nil) {
        self.fate = fate
        self.action = action
    }

    deinit {
        _ = fate.settle(.abandoned)
        action?()
    }
}
