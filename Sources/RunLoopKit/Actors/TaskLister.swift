#if os(Linux)
/// Who runs the tasks of the main loop, and can list them: RunLoopKitMainActor, if the program has it.
package protocol TaskLister: AnyObject, Sendable {
    var isListing: Bool { get set }

    /// A line for each task that has begun and not ended. Any thread.
    var lines: [String] { get }
}

extension RunLoop {
    /// Set when the program is loaded.
    package static let taskLister = Guarded<(any TaskLister)?>(nil)
}
#endif
