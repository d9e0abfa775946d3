#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop {
    /// What has happened to the machine's clocks: the wall clock was set, or the machine was suspended, or both.
    ///
    ///     for try await change in loop.clockChanges() {
    ///         if let step = change.wallClockStep { print("was set by", step) }
    ///         if let time = change.suspension { print("was suspended for", time) }
    ///     }
    public struct ClockChange: Hashable, Sendable {
        /// By how much the wall clock was set, beyond the time that has passed, that of a suspension included: negative if it was
        /// set back. `nil` if it was not set. A leap second is a step; the slewing of NTP is none.
        public let wallClockStep: Duration?
        /// How long the machine was suspended. `nil` if it was not.
        public let suspension: Duration?

        package init(stepNanoseconds step: Int64, suspendedNanoseconds suspended: Int64) {
            wallClockStep = step == 0 ? nil : .nanoseconds(step)
            suspension = suspended == 0 ? nil : .nanoseconds(suspended)
        }
    }

    /// The changes of the machine's clocks, as a sequence: `for try await change in loop.clockChanges() { … }`.
    ///
    /// The clocks are watched from the first call of `next()` to the end of the iteration, and the mode is not empty for as long.
    /// What happens while the consumer is busy is added up in the next element. Otherwise as a source of such changes, and as
    /// `readiness(of:for:inMode:)`. Any thread, any task.
    ///
    /// - Returns: a sequence that throws the errors of making such a source, and of adding it.
    public func clockChanges(inMode mode: Mode = .common) -> some AsyncSequence<ClockChange, any Swift.Error> & Sendable
    {
        SourceSequence<ClockChange>(loop: self, mode: mode) { yield in
            try Source.clockChanges(yield)
        }
    }
}

extension RunLoop.Source {
    /// Makes a source that reports when the wall clock was set, and when the machine was suspended, in no loop yet.
    ///
    ///     let source = try RunLoop.Source.clockChanges { change in
    ///         if let step = change.wallClockStep {
    ///             print("the wall clock was set by \(step)")
    ///         }
    ///         if let suspension = change.suspension {
    ///             print("the machine was suspended for \(suspension)")
    ///         }
    ///     }
    ///     try loop.add(source, forMode: .common)
    ///
    /// Nothing is polled, and the loop sleeps until the kernel reports something. Changes from now on are reported; those that come
    /// while the source is in no mode that runs are added up, and a wall clock that was set forth and back is nothing. They are
    /// exact to the time between two readings of clocks, usually less than a microsecond.
    ///
    /// - Parameter perform: called on the loop's thread, in the source's modes.
    /// - Throws: `unsupported` in a sandbox whose kernel does not report such changes; `tooManyDescriptors`, since it needs one;
    ///   `outOfMemory`.
    public static func clockChanges(
        _ perform: @escaping @Sendable (RunLoop.ClockChange) -> Void
    ) throws -> RunLoop.Source {
        try unsafe RunLoop.Source(receiver: ClosureBox(perform), of: .clock) { context, watch in
            var config = unsafe runloop_clock_watch_config()
            unsafe config.context = context
            unsafe config.changed = { _, change, info in
                guard let change = unsafe change?.pointee else { return }
                unsafe withInfo(info, as: ClosureBox<RunLoop.ClockChange>.self) {
                    $0.call(
                        RunLoop.ClockChange(
                            stepNanoseconds: change.step_ns, suspendedNanoseconds: change.suspended_ns))
                }
            }
            return unsafe runloop_clock_watch_create(&config, &watch)
        }
    }
}
#endif
