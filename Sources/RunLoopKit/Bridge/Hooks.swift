#if os(Linux)
/// What other modules of the package register with this one, which knows none of them. docs/OVERLAY.md lists what registers each hook, and
/// what asks it. A hook is set once, when the program is loaded and before it has another thread, unless its comment says otherwise.
package enum Hooks {
    /// Another loop that is `RunLoop.main` on the calling thread. `nil` on a thread that has none.
    nonisolated(unsafe) package static var mainLoop: (@Sendable () -> RunLoop?)?

    /// Do the main actor's jobs run on the main loop itself, or a stand-in, and not by way of the main dispatch queue?
    nonisolated(unsafe) package static var isExecutorOfMainActor = false

    /// Ends the sleep of a task whose timer this is, on the loop's thread. `false` for other timers.
    nonisolated(unsafe) package static var endSleep: (@Sendable (_ timer: OpaquePointer) -> Bool)?

    /// Lists the tasks of the main loop. Asked on any thread.
    package static let taskLister = Guarded<(any TaskLister)?>(nil)

    /// Asked in this order about each call that a task awaits and that no loop sees. On any thread, and at any time.
    package static let outsideWork = Guarded<[OutsideWork.Follower]>([])
}

/// The tasks of the main loop, by the module that runs them.
package protocol TaskLister: AnyObject, Sendable {
    var isListing: Bool { get set }

    /// A line for each task that has begun and not ended. Any thread.
    var lines: [String] { get }
}
#endif
