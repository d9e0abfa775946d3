internal import CRunLoopCore
internal import Synchronization

extension RunLoop {
    /// Something that a loop was asked to do, and that can still be cancelled.
    ///
    /// Releasing a registration does not cancel it, and keeping one keeps neither the closure nor its captures. Any thread.
    public final class Registration: Sendable {
        /// The state of a registration.
        public enum State: UInt8, Hashable, Sendable {
            /// It is still to be done, or goes on.
            case active
            /// It was done, or has begun: it is too late to cancel it.
            case done
            /// It was cancelled.
            case cancelled
            /// It will not be done, because the loop's thread has ended or no mode was given.
            case abandoned
        }

        /// What there is to cancel.
        private enum Target: ~Copyable {
            /// A timer, which keeps a closure and frees it when it becomes invalid.
            case timer(ClosureTimer)
            case action(@Sendable () -> Void)
        }

        private let current: RegistrationState
        private let target: Target

        init(_ state: RegistrationState, cancel action: @escaping @Sendable () -> Void) {
            current = state
            target = .action(action)
        }

        init(_ state: RegistrationState, _ timer: consuming ClosureTimer) {
            current = state
            target = .timer(timer)
        }

        /// Adds the timer to the modes. If none takes it, its closure is freed at once.
        func start(in modes: Set<Mode>, of loop: RunLoop) {
            switch target {
            case .timer(let timer):
                var isWaiting = false
                for mode in modes where loop.wasAdded(runloop_add_timer(loop.core, timer.core, mode.name)) {
                    isWaiting = true
                }
                if !isWaiting { runloop_timer_invalidate(timer.core) }
            case .action: break
            }
        }

        /// The current state. An answer about another thread's loop may be old when it arrives, but only `active` ever
        /// changes. O(1).
        public var state: State { current.value }

        /// Cancels it: what has not begun will not begin, and its closure is freed. Does not wait for a closure that runs on
        /// another thread (R119). Has no effect unless the registration is active.
        public func cancel() { cancelIfActive() }

        /// - Returns: was it active?
        @discardableResult
        func cancelIfActive() -> Bool {
            if !current.settle(.cancelled) { return false }
            switch target {
            case .timer(let timer): runloop_timer_invalidate(timer.core)
            case .action(let action): action()
            }
            return true
        }
    }
}

/// The state of a registration: `active` until it is settled, once.
final class RegistrationState: Sendable {
    private let raw = Atomic(RunLoop.Registration.State.active.rawValue)

    var value: RunLoop.Registration.State {
        RunLoop.Registration.State(rawValue: raw.load(ordering: .sequentiallyConsistent)) ?? .active
    }

    /// - Returns: did this call settle it?
    func settle(_ state: RunLoop.Registration.State) -> Bool {
        raw.compareExchange(
            expected: RunLoop.Registration.State.active.rawValue, desired: state.rawValue,
            ordering: .sequentiallyConsistent
        ).exchanged
    }
}

/// Held by the closure that a loop keeps for a registration, and by nothing else: when the loop releases that closure, the
/// registration is over.
final class EndOfRegistration: Sendable {
    let state: RegistrationState
    private let action: (@Sendable () -> Void)?

    init(_ state: RegistrationState, _ action: (@Sendable () -> Void)? = nil) {
        self.state = state
        self.action = action
    }

    deinit {
        _ = state.settle(.abandoned)
        action?()
    }
}
