public import RunLoopKit

extension RunLoop {
    /// Runs one mode until a condition holds, or throws an error that says what did not come about.
    ///
    ///     try loop.runUntil("the server answers") { server.hasAnswered }
    ///
    /// The condition is asked whenever the loop does something, and every few milliseconds besides, so another thread may
    /// make it true without waking the loop. It is asked before the first iteration too, and no more after it held. Neither a
    /// stop of the loop nor a mode in which nothing can happen ends the wait: a source that never performs keeps the mode.
    /// Observers see the wait as several runs.
    ///
    /// On the loop's own thread only: anything else is a precondition failure. Inside closures of the loop the runs are
    /// nested.
    ///
    /// - Parameters:
    ///   - what: the condition in words, for the error.
    ///   - mode: one in which the loop can run; `.common` is a precondition failure.
    ///   - patience: after how much time the condition has failed. Generous, since a test that passes never waits so long: a
    ///     loaded machine is no reason to fail.
    ///   - condition: what it throws ends the wait, and is thrown here.
    /// - Throws: `AwaitedConditionFailure`, and what the condition throws.
    @available(*, noasync, message: "Running a loop blocks its thread: use withRunLoop.")
    public func runUntil(
        _ what: String = "a condition", mode: Mode = .default, within patience: Duration = .seconds(60),
        fileID: StaticString = #fileID, line: UInt = #line, _ condition: () throws -> Bool
    ) throws {
        precondition(mode != .common, "A loop runs in one mode; the common modes are several.")
        if try condition() { return }
        let keepAlive = try KeepAlive(on: self, inMode: mode)
        defer { keepAlive.invalidate() }
        var asked = Result<Bool, any Swift.Error>.success(false)
        let begin = Instant.now
        while .now - begin < patience {
            run(mode: mode, until: min(begin + patience, .now + .milliseconds(5))) {
                asked = Result { try condition() }
                return (try? asked.get()) ?? true
            }
            if try asked.get() { return }
        }
        throw AwaitedConditionFailure(
            what: what, mode: mode, patience: patience, fileID: fileID, line: line, loopDescription: description)
    }
}

/// A condition for which a test has waited in vain. Its description, which test frameworks print, says what was awaited,
/// where, and what the loop looked like then.
public struct AwaitedConditionFailure: Error, CustomStringConvertible {
    /// The condition, in the words of who awaited it.
    public let what: String
    /// The mode in which the loop ran.
    public let mode: RunLoop.Mode
    /// How long it was awaited.
    public let patience: Duration
    /// The file in which it was awaited, `Module/File.swift`.
    public let fileID: StaticString
    /// The line in that file.
    public let line: UInt
    /// What was in the loop in the end.
    public let loopDescription: String

    /// All of that, in sentences.
    public var description: String {
        """
        \(what) did not come about within \(patience) of running the mode \(mode), awaited at \(fileID):\(line). \
        The loop in the end:
        \(loopDescription)
        """
    }
}
