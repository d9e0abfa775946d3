#if os(Linux)
public import RunLoopKit

/// A port that has an event whenever a file descriptor is ready. Foundation has no portable name for it.
///
/// The loop calls the handler as long as a condition holds, one descriptor per iteration. The loop does not read, write or
/// close the descriptor; invalidate the port before you close it. The descriptor should be non-blocking, since the handler may
/// be called once for nothing if another reader took the input.
open class FileDescriptorPort: Port {
    private let failure = Guarded<RunLoopKit.RunLoop.Error?>(nil)

    /// Makes a port for a descriptor, in no loop yet.
    ///
    /// - Parameters:
    ///   - fileDescriptor: open for as long as the port is valid.
    ///   - events: at least one condition. Errors and hang-ups are reported in any case.
    ///   - handler: called on the loop's thread with this port and the conditions that hold. Freed with the port.
    /// - Throws: `invalid` without or with unknown conditions, and for a negative descriptor.
    public init(
        fileDescriptor: CInt, events: RunLoopKit.RunLoop.Source.Readiness = .read,
        handler: @escaping @Sendable (FileDescriptorPort, RunLoopKit.RunLoop.Source.Readiness) -> Void
    ) throws {
        guard fileDescriptor >= 0 else { throw RunLoopKit.RunLoop.Error.invalid }
        let call = Call()
        let source = try RunLoopKit.RunLoop.Source(fileDescriptor: fileDescriptor, events: events) { ready in
            if let port = call.port { handler(port, ready) }
        }
        super.init(source: source)
        call.port = self
    }

    /// The descriptor, as created.
    public var fileDescriptor: CInt { source.fileDescriptor ?? -1 }

    /// Why the port became invalid when it was added to a loop: the descriptor is not open, cannot be waited for, or exceeds a
    /// limit. `nil` if that did not happen. Any thread.
    public var schedulingError: RunLoopKit.RunLoop.Error? { failure.withLock { $0 } }

    /// Has the loop watch the descriptor. If the system refuses that, the port becomes invalid, and `schedulingError` says why.
    open override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        do throws(RunLoopKit.RunLoop.Error) {
            try runLoop.native.admit(source, to: mode.native)
        } catch {
            if !isValid || error == .loopFinished || error == .inheritedAcrossFork { return }
            failure.withLock { $0 = error }
            invalidate()
        }
    }
}

/// Refers from the source to its port, which owns the source.
private final class Call: @unchecked Sendable {
    // Written once, before any other code has this object.
    weak var port: FileDescriptorPort?
}
#endif
