internal import CRunLoopCore
internal import CRunLoopLinux

/// A `runloop_output`, to which this object has a reference.
final class OutputHandle: Sendable {
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

    private nonisolated(unsafe) let core: OpaquePointer

    /// - Parameter drained: called on the loop's thread when all output that has waited was sent, or can't be.
    init(
        _ descriptor: CInt, of loop: RunLoop, limit: Int, owns: Bool,
        drained: @escaping @Sendable (RunLoop.Error?) -> Void
    ) throws(RunLoop.Error) {
        var config = runloop_output_config()
        config.context.info = retainedInfo(DrainReceiver(drained))
        config.context.release = releaseInfo
        config.descriptor = descriptor
        config.owns = owns
        config.limit = limit
        config.loop = loop.core
        config.drained = { _, error, info in
            withInfo(info, as: DrainReceiver.self) {
                $0.drained(error == 0 ? nil : RunLoop.Error(result: error, of: .output))
            }
        }
        var core: OpaquePointer?
        let result = runloop_output_create(&config, &core)
        guard result == 0, let core else {
            releaseInfo(config.context.info)
            throw RunLoop.Error(result: result, of: .output, subject: "descriptor \(descriptor)")
        }
        self.core = core
    }

    deinit {
        runloop_source_release(core)
    }

    func add(to loop: RunLoop, _ mode: RunLoop.Mode) throws(RunLoop.Error) {
        let result = runloop_add_source(loop.core, core, mode.name)
        if result < 0 { throw RunLoop.Error(result: result) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Result {
        Result(runloop_output_write(core, bytes.baseAddress, bytes.count))
    }

    func enqueue(_ bytes: UnsafeRawBufferPointer) -> Result {
        Result(Int(runloop_output_enqueue(core, bytes.baseAddress, bytes.count)))
    }

    func flush() -> Result { Result(Int(runloop_output_flush(core))) }
    func finish() -> Result { Result(Int(runloop_output_finish(core))) }

    var waitingCount: Int { runloop_output_get_waiting(core) }
    var lastMove: Int64 { runloop_output_get_moved_ns(core) }

    func invalidate() { runloop_source_invalidate(core) }
}

/// The closure of an output.
private final class DrainReceiver: Sendable {
    let drained: @Sendable (RunLoop.Error?) -> Void

    init(_ drained: @escaping @Sendable (RunLoop.Error?) -> Void) {
        self.drained = drained
    }
}
