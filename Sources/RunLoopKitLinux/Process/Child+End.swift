#if os(Linux)
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop.Child {
    /// A signal of a sequence that ends a process.
    ///
    ///     // A word, five seconds, and then the end.
    ///     try await child.end(by: [.signal(SIGINT, pause: .seconds(5)), .kill])
    public struct Step: Hashable, Sendable {
        let signal: CInt
        let pause: Duration

        /// Sends any signal, by its number, and waits so long for its effect.
        ///
        /// - Parameter pause: how long the next signal waits for the effect of this one.
        public static func signal(_ number: CInt, pause: Duration) -> Step { Step(signal: number, pause: pause) }
        /// Asks the process to end (SIGTERM), and gives it so long.
        public static func terminate(pause: Duration) -> Step { .signal(SignalNumber.terminate, pause: pause) }
        /// Ends the process without asking it (SIGKILL), as the last step.
        public static let kill = Step(signal: SignalNumber.kill, pause: .zero)
    }

    /// Begins to end the process politely. The first signal is sent at once, each other one by the loop, in the child's mode, not before
    /// the pause has passed. Nothing is sent any more when the process has ended. A second call replaces the rest of the first. Any thread.
    ///
    /// - Parameters:
    ///   - steps: one to eight.
    ///   - ofGroup: to all in the group that the child leads (``Options/group``), as long as the child itself has not ended.
    /// - Throws: `noSuchProcess` if it has ended; `notPermitted`; `invalid` for steps or a group that make no sense.
    public func beginEnd(
        by steps: [Step] = [.terminate(pause: .seconds(5)), .kill], ofGroup: Bool = false
    ) throws {
        let steps = steps.map { runloop_child_step(signal: $0.signal, pause_ns: Nanoseconds.of($0.pause)) }
        try source.endChild(by: steps, ofGroup: ofGroup)
    }

    /// Ends the process politely and waits for its end, **also if the task is cancelled** before or meanwhile: it returns when there is no
    /// such process any more. With a SIGKILL at the end that is as long as the pauses at most, unless the kernel itself is stuck.
    ///
    /// - Throws: as `beginEnd(by:ofGroup:)`, but not `noSuchProcess`; `loopFinished` if the loop's thread ends before.
    @discardableResult
    public func end(
        by steps: [Step] = [.terminate(pause: .seconds(5)), .kill], ofGroup: Bool = false,
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Exit {
        do {
            try beginEnd(by: steps, ofGroup: ofGroup)
        } catch RunLoop.Error.noSuchProcess {
            // It is reported, if it has not been yet.
        }
        let end = end
        // A task of its own is not cancelled with this one.
        return try await Task { try await end.wait(isolation: nil) }.value
    }
}

extension RunLoop.Shutdown {
    /// Adds work that ends a child politely, and runs the loop until it has ended. The shutdown's limit applies. The child's mode must be
    /// common, and its loop the shutdown's. Where `beginEnd(by:ofGroup:)` would throw, other than because the child has ended, the work
    /// does nothing: steps or a group that make no sense, a child that this process may not signal.
    public func addEnd(
        of child: RunLoop.Child, by steps: [RunLoop.Child.Step] = [.terminate(pause: .seconds(5)), .kill],
        ofGroup: Bool = false, order: Int = 0
    ) {
        let (source, end) = (child.source, child.end)
        let steps = steps.map { runloop_child_step(signal: $0.signal, pause_ns: Nanoseconds.of($0.pause)) }
        addWork(order: order) {
            do throws(RunLoop.Error) {
                try source.endChild(by: steps, ofGroup: ofGroup)
            } catch {
                // A process that was not asked to end can't be expected to.
                if error != .noSuchProcess { return }
            }
            RunLoop.current.run(until: { end.outcome != nil }, deadline: nil)
        }
    }
}
#endif
