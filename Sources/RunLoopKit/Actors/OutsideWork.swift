#if os(Linux)
/// A call that a task awaits and that no loop sees, as it is made on another thread. A loop whose time is virtual has it wait for such calls,
/// and a simulation makes them itself.
package enum OutsideWork {
    /// What becomes of a call that the current thread's task is about to have made elsewhere.
    package enum Kind {
        /// Another thread makes it, and then calls `end`, if there is one.
        case outside(end: (@Sendable () -> Void)?)
        /// It will be made; nobody else is to make it.
        case taken

        /// For code that makes it otherwise, and calls `end` itself.
        package func end() { if case .outside(let end?) = self { end() } }
    }

    /// Asked for each call, if a test has said what becomes of it. `nil` for a call that is made by a loop.
    package typealias Follower = @Sendable (_ call: (@Sendable () -> Void)?) -> Kind

    /// For the process. The first one that does not answer `outside(end: nil)` decides.
    package static func follow(_ follower: @escaping Follower) {
        Hooks.outsideWork.withLock { $0.append(follower) }
    }

    package static func begin(_ call: (@Sendable () -> Void)? = nil) -> Kind {
        for follower in Hooks.outsideWork.withLock({ $0 }) {
            let kind = follower(call)
            if case .outside(nil) = kind { continue }
            return kind
        }
        return .outside(end: nil)
    }
}
#endif
