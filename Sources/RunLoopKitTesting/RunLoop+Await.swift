#if os(Linux)
internal import CRunLoopSimulation
public import RunLoopKit

extension RunLoop {
    /// Runs one mode until a condition holds, or throws an error that names the condition.
    ///
    ///     try loop.runUntil("the server answers") { server.hasAnswered }
    ///
    /// The condition is checked whenever the loop does something, and every few milliseconds besides, so another thread may
    /// make it true without waking the loop. It is checked before the first iteration too, and no more once it has held. Neither
    /// a stop of the loop nor an empty mode ends the wait: a source that never performs is added to the mode. Observers see the
    /// wait as several runs.
    ///
    /// On the loop's own thread only: anything else is a precondition failure. Inside closures of the loop the runs are
    /// nested.
    ///
    /// - Parameters:
    ///   - what: the condition in words, for the error.
    ///   - mode: one in which the loop can run; `.common` is a precondition failure.
    ///   - timeLimit: how long the condition is waited for, of real time, also if the loop's is virtual. Generous, since a test that passes
    ///     never waits so long: a loaded machine is no reason to fail.
    ///   - condition: an error that it throws ends the wait, and is thrown here.
    /// - Throws: `AwaitedConditionFailure`, and what the condition throws.
    @available(*, noasync, message: "Running a loop blocks its thread: use withRunLoop.")
    public func runUntil(
        _ what: String = "a condition", mode: Mode = .default, within timeLimit: Duration = .seconds(60),
        fileID: StaticString = #fileID, line: UInt = #line, _ condition: () throws -> Bool
    ) throws {
        mode.checkIsOne()
        if try condition() { return }
        let keepAlive = try KeepAlive(on: self, inMode: mode)
        defer { keepAlive.invalidate() }
        var answer = Result<Bool, any Swift.Error>.success(false)
        let end = RealInstant.now + timeLimit
        func look() -> Bool {
            answer = Result { try condition() }
            return (try? answer.get()) ?? true
        }
        while .now < end {
            if let time = VirtualTimeOfLoop.known?.time {
                time.polling { _ = run(mode: mode, until: { look() || .now >= end }, deadline: nil) }
            } else {
                _ = run(mode: mode, until: look, deadline: .now + .milliseconds(5))
            }
            if try answer.get() { return }
        }
        throw AwaitedConditionFailure(
            what: what, mode: mode, timeLimit: timeLimit, fileID: fileID, line: line, loopDescription: description)
    }
}

/// A condition that did not come to hold in time. Its description, which test frameworks print, says which condition, where it was
/// awaited, and what was in the loop at the end.
///
///     let source = RunLoop.Source { count += 1 }
///     try loop.add(source, forMode: .default)
///     source.signal()
///     // Throws this error after a minute.
///     try loop.runUntil("the source is called") { count == 1 }
public struct AwaitedConditionFailure: Error, CustomStringConvertible {
    /// The condition, in the words of the caller.
    let what: String
    let mode: RunLoop.Mode
    let timeLimit: Duration
    /// The file in which it was awaited, `Module/File.swift`.
    public let fileID: StaticString
    /// The line of the wait, in that file.
    public let line: UInt
    /// What was in the loop at the end.
    let loopDescription: String

    /// Condition, mode, time limit, place and what was in the loop at the end, in sentences.
    public var description: String {
        """
        \(what) did not come about within \(timeLimit) of running the mode \(mode), awaited at \(fileID):\(line). \
        The loop in the end:
        \(loopDescription)
        """
    }
}

/// Of the machine's monotonic clock, whatever the thread's clocks show.
private struct RealInstant: Comparable {
    private let nanoseconds: Int64

    static var now: RealInstant { RealInstant(nanoseconds: runloop_simulation_real_now_ns()) }

    static func + (instant: RealInstant, duration: Duration) -> RealInstant {
        RealInstant(nanoseconds: Nanoseconds.sum(instant.nanoseconds, Nanoseconds.of(duration)))
    }

    static func < (left: RealInstant, right: RealInstant) -> Bool { left.nanoseconds < right.nanoseconds }
}
#endif
