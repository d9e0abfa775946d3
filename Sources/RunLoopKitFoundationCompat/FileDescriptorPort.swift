public import RunLoopKit

/// A port that has something whenever a file descriptor is ready: what Foundation has no portable name for.
///
/// The loop calls the handler for as long as a condition holds, one descriptor per pass. It reads and writes nothing, and does
/// not close the descriptor: invalidate the port before closing it. The descriptor should be non-blocking, since the handler
/// may be called once for nothing if somebody else took what was there.
open class FileDescriptorPort: Port {
    private let failure = Guarded<RunLoopKit.RunLoop.Error?>(nil)

    /// Makes a port for a descriptor, in no loop yet.
    ///
    /// - Parameters:
    ///   - fileDescriptor: open for as long as the port is valid.
    ///   - events: at least one condition. An error and a hang-up are told in any case.
    ///   - handler: called on the loop's thread with this port and the conditions that hold. Freed with the port.
    /// - Throws: `invalid` without or with unknown conditions, and for a negative descriptor.
    public init(
        fileDescriptor: CInt, events: RunLoopKit.RunLoop.Source.Readiness = .read,
        handler: @escaping @Sendable (FileDescriptorPort, RunLoopKit.RunLoop.Source.Readiness) -> Void
    ) throws(RunLoopKit.RunLoop.Error) {
        guard fileDescriptor >= 0 else { throw .invalid }
        let call = Call()
        let source = try RunLoopKit.RunLoop.Source(fileDescriptor: fileDescriptor, events: events) { ready in
            if let port = call.port { handler(port, ready) }
        }
        super.init(source: source)
        call.port = self
    }

    /// The descriptor, as created.
    public var fileDescriptor: CInt { source.fileDescriptor ?? -1 }

    /// Why the port became invalid by being added to a loop: the descriptor is not open, cannot be waited for, or is one too
    /// many. `nil` if that did not happen. Any thread.
    public var schedulingError: RunLoopKit.RunLoop.Error? { failure.withLock { $0 } }

    /// Has the loop watch the descriptor. If the system refuses that, the port becomes invalid, and `schedulingError` says why.
    open override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        do throws(RunLoopKit.RunLoop.Error) {
            try runLoop.native.add(source, forMode: mode.native)
        } catch {
            if !isValid || error == .loopFinished || error == .inheritedAcrossFork { return }
            failure.withLock { $0 = error }
            invalidate()
        }
    }
}

/// The way from the source to its port, which owns it.
private final class Call: @unchecked Sendable {
    // Written once, before anybody else knows this object.
    weak var port: FileDescriptorPort?
}
