#if os(Linux)
public import FoundationEssentials
internal import RunLoopKit

extension RunLoop {
    /// Runs the default mode as long as something can happen in it (R128). On the main thread, where the main dispatch queue is
    /// served, that is for ever. A stop of the native loop ends one run, not this method. A program that wants to end it calls
    /// `run(mode:before:)` while its own condition holds.
    @available(*, noasync, message: "Running a loop blocks its thread.")
    public func run() {
        while runOnce(.default, until: nil) {}
    }

    /// Runs the default mode until `limitDate`, or until nothing can happen in it, for one iteration if the date has passed
    /// (R127). The date becomes an instant when the method is called: setting the wall clock later does not move it.
    @available(*, noasync, message: "Running a loop blocks its thread.")
    public func run(until limitDate: Date) {
        guard let limit = FireDate(limitDate).instant else { return run() }
        while runOnce(.default, until: limit) && .now < limit {}
    }

    /// Runs a mode once: until a port or the main dispatch queue was served, or until `limitDate` (R125, R126). Timers and
    /// performed blocks do not end it. A date that has passed gives one iteration that does not wait; `.distantFuture`, and a
    /// date that is not a number, are no limit.
    ///
    /// - Returns: was there anything to run? `false` on another thread than the loop's, for `.common`, and for a mode in which
    ///   nothing can ever happen. Otherwise `true`, whatever ended the run.
    @available(*, noasync, message: "Running a loop blocks its thread.")
    @discardableResult
    public func run(mode: Mode, before limitDate: Date) -> Bool {
        runOnce(mode, until: FireDate(limitDate).instant)
    }

    /// Runs a mode once, as `run(mode:before:)` does, without a result (R129).
    public func acceptInput(forMode mode: Mode, before limitDate: Date) {
        _ = runOnce(mode, until: FireDate(limitDate).instant)
    }

    /// Runs the mode of that name once. Foundation on Linux declares the parameter as a string.
    public func acceptInput(forMode mode: String, before limitDate: Date) {
        acceptInput(forMode: Mode(mode), before: limitDate)
    }

    /// Runs one iteration that does not wait and that serves due timers, one port and performed blocks, and returns when the
    /// mode's next timer is due (R130).
    ///
    /// - Returns: that date; `.distantFuture` without timers; `nil` if nothing can happen in the mode any more, and on another
    ///   thread than the loop's.
    public func limitDate(forMode mode: Mode) -> Date? {
        guard runOnce(mode, until: .now), !native.isEmpty(inMode: mode.native) else { return nil }
        return native.nextFireDate(inMode: mode.native).map(wallDate(of:)) ?? .distantFuture
    }

    private var isOnItsThread: Bool {
        // Reading it makes the thread's loop, which the initial thread may not have done yet.
        native.isCurrent || RunLoopKit.RunLoop.current == native
    }

    private func runOnce(_ mode: Mode, until limit: Instant?) -> Bool {
        guard isOnItsThread, !native.isEmpty(inMode: mode.native) else { return false }
        native.run(mode: mode.native, until: limit, returnAfterSourceHandled: true)
        return true
    }
}
#endif
