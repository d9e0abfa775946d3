#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
internal import RunLoopKit

/// A `runloop_output`.
struct OutputHandle: Sendable {
    /// What a call has come to.
    enum Result {
        /// How many bytes were taken; 0: the call is done.
        case taken(Int)
        /// The buffer is full, or output waits.
        case mustWait
        case failure(RunLoop.Error)

        init(_ result: Int) {
            if result >= 0 {
                self = .taken(result)
            } else {
                let error = RunLoop.Error(result: Int32(truncatingIfNeeded: result), of: .output)
                self = error.errorNumber == ErrorNumber.tryAgain ? .mustWait : .failure(error)
            }
        }
    }

    let source: RunLoop.Source
    private var core: OpaquePointer { source.core }

    /// - Parameter queue: is notified when all output that has waited was sent, or can't be, and that the loop has ended.
    init(
        _ descriptor: CInt, of loop: RunLoop, limit: Int, owns: Bool, resets: Bool, _ queue: OutputQueue
    ) throws(RunLoop.Error) {
        source = try unsafe RunLoop.Source(
            receiver: queue, of: .output, subject: "descriptor \(descriptor)"
        ) { context, output in
            var config = unsafe runloop_output_config()
            unsafe config.context = context
            unsafe config.descriptor = descriptor
            unsafe config.owns = owns
            unsafe config.resets = resets
            unsafe config.limit = limit
            // Tasks that wait for space resume while the rest is sent.
            unsafe config.low_water = limit / 2
            unsafe config.loop = loop.core
            unsafe config.drained = { _, error, info in
                unsafe withInfo(info, as: OutputQueue.self) {
                    $0.drained(error == 0 ? nil : RunLoop.Error(result: error, of: .output))
                }
            }
            unsafe config.cancel = { output, _, _, info in
                unsafe withInfoAtEndOfLoop(output, info, as: OutputQueue.self) { $0.fail(.loopFinished) }
            }
            return unsafe runloop_output_create(&config, &output)
        }
    }

    func write(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Result {
        unsafe Result(runloop_output_write(core, start, count))
    }

    func enqueue(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Result {
        let result = unsafe runloop_output_enqueue(core, start, count)
        return Result(result < 0 ? Int(result) : count)
    }

    func flush() -> Result { unsafe Result(Int(runloop_output_flush(core))) }
    func finish() -> Result { unsafe Result(Int(runloop_output_finish(core))) }

    var waitingCount: Int { unsafe runloop_output_get_waiting(core) }
    var lastMove: Int64 { unsafe runloop_output_get_moved_ns(core) }
}
#endif
