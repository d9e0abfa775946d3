#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
internal import RunLoopKit

/// A program that is to be run to its end, in the core's terms.
struct ChildRun {
    typealias Outcome = RunLoop.Child.Outcome

    private let start: ChildStart
    private let input: [UInt8]?
    private let limit: Int
    private let excess: runloop_command_excess
    private let timeout, outputLimit: Int64

    init(
        _ arguments: [String], _ input: (any Collection<UInt8>)?, _ limit: Int, _ excess: RunLoop.Child.Excess,
        _ output: RunLoop.Child.Stream, _ error: RunLoop.Child.Stream, _ environment: [String: String]?,
        _ directory: String?, _ options: RunLoop.Child.Options, _ timeLimit: Duration?
    ) throws(RunLoop.Error) {
        precondition(limit >= 0, "The limit of what is collected is not negative.")
        // Those that the command has are not listed.
        let listed = [1: output, 2: error].filter { $0.value != .pipe } as [CInt: RunLoop.Child.Stream]
        for (number, stream) in listed.merging(options.descriptors, uniquingKeysWith: { $1 }) where stream.isForParent {
            throw RunLoop.Error.invalid.about("descriptor \(number)")
        }
        start = try ChildStart(arguments, listed, environment, directory, options, listsInherited: true)
        self.input = input.map { Array($0) }
        // More does not fit in the address space.
        self.limit = min(limit, .max - 1)
        self.excess = excess == .close ? .RUNLOOP_COMMAND_CLOSE : .RUNLOOP_COMMAND_DROP
        // Zero would be no limit, or the default.
        timeout = timeLimit.map { max(Nanoseconds.of($0), 1) } ?? 0
        outputLimit = max(Nanoseconds.of(options.outputLimit), 1)
    }

    private func withConfig<Result>(
        _ body: (inout runloop_command_config) throws(RunLoop.Error) -> Result
    ) throws(RunLoop.Error) -> Result {
        // Of an array without elements there may be no pointer, which is no input.
        let bytes = input.map { $0.isEmpty ? [0] : $0 }
        var config = unsafe runloop_command_config()
        unsafe config.input_count = input?.count ?? 0
        unsafe config.limit = limit
        unsafe config.excess = excess
        unsafe config.timeout_ns = timeout
        unsafe config.output_limit_ns = outputLimit
        guard let bytes else { return try unsafe body(&config) }
        let result: Swift.Result<Result, RunLoop.Error> = unsafe bytes.withUnsafeBytes { bytes in
            unsafe config.input = bytes.baseAddress
            do throws(RunLoop.Error) { return .success(try unsafe body(&config)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// On the calling thread.
    func run() throws(RunLoop.Error) -> Outcome {
        var result = unsafe runloop_command_result()
        _ = try unsafe withConfig { config throws(RunLoop.Error) in
            try unsafe start.run { start, _ in
                unsafe config.start = start
                return unsafe runloop_command_run(&config, &result)
            }
        }
        defer { unsafe runloop_command_result_free(&result) }
        return unsafe Outcome(result)
    }

    /// By a loop.
    func wait(in loop: RunLoop, _ mode: RunLoop.Mode, isolation actor: isolated (any Actor)?) async throws -> Outcome {
        let answer = Answer<Outcome, any Error>()
        let source = try begin(answer)
        do {
            try loop.admit(source, to: mode)
        } catch {
            source.killCommand()
            throw error
        }
        let work = OutsideWork.begin()
        defer { work.end() }
        // It is settled when the process has ended.
        return try await answer.wait(isolation: actor) { source.endCommand() }
    }

    private func begin(_ answer: Answer<Outcome, any Error>) throws(RunLoop.Error) -> RunLoop.Source {
        let box = AnswerBox(answer)
        let core = try unsafe withConfig { config throws(RunLoop.Error) in
            unsafe config.context.info = retainedInfo(box)
            unsafe config.context.release = releaseInfo
            unsafe config.ended = { _, result, info in
                guard let result = unsafe result else { return }
                let outcome = unsafe Outcome(result.pointee)
                unsafe withInfo(info, as: AnswerBox.self) { $0.answer.settle(.success(outcome)) }
            }
            unsafe config.cancel = { command, _, _, info in
                unsafe withInfoAtEndOfLoop(command, info, as: AnswerBox.self) {
                    unsafe killCommand(command)
                    $0.answer.settle(.failure(RunLoop.Error.loopFinished))
                }
            }
            do throws(RunLoop.Error) {
                return try unsafe start.run { start, core in
                    unsafe config.start = start
                    return unsafe runloop_command_create(&config, &core)
                }
            } catch {
                unsafe releaseInfo(config.context.info)
                throw error
            }
        }
        guard let core = unsafe core else { throw .invalid }
        return unsafe RunLoop.Source(core: core)
    }

    private final class AnswerBox: Sendable {
        let answer: Answer<Outcome, any Error>
        init(_ answer: Answer<Outcome, any Error>) { self.answer = answer }
    }
}

/// Kills a program for which nobody will wait.
private func killCommand(_ command: OpaquePointer?) {
    var kill = runloop_child_step(signal: SignalNumber.kill, pause_ns: 0)
    let process = unsafe runloop_command_get_pid(command)
    if unsafe runloop_command_end_by(command, &kill, 1, false) == 0 { reap(process) }
}

extension RunLoop.Source {
    fileprivate func killCommand() {
        unsafe RunLoopKitLinux.killCommand(core)
        invalidate()
    }

    /// Ends a program politely, if it has not ended, with its group if it leads one.
    fileprivate func endCommand() {
        var steps = [
            runloop_child_step(signal: SignalNumber.terminate, pause_ns: 5_000_000_000),
            runloop_child_step(signal: SignalNumber.kill, pause_ns: 0),
        ]
        if unsafe runloop_command_end_by(core, &steps, steps.count, true) < 0 {
            _ = unsafe runloop_command_end_by(core, &steps, steps.count, false)
        }
    }
}
#endif
