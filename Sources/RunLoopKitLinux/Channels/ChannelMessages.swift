internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop.Channel {
    /// A message that a task has taken from a channel's ``messages``. A request that is freed without a reply is dropped. Any thread.
    public final class ReceivedMessage: Sendable {
        /// What was sent.
        public let bytes: [UInt8]
        /// What was sent with it.
        public let descriptors: Descriptors
        /// Was the message sent with a request for a reply? Whether the asker still waits is not known here.
        public let isRequest: Bool
        /// A `runloop_call *`, with one reference, until it is replied to.
        private let call: Guarded<OpaquePointer?>

        init(_ bytes: [UInt8], _ descriptors: Descriptors, call: OpaquePointer?) {
            (self.bytes, self.descriptors, isRequest) = (bytes, descriptors, call != nil)
            nonisolated(unsafe) let call = call
            self.call = Guarded(call)
        }

        deinit {
            runloop_call_release(call.withLock { $0 })
        }

        /// Replies. Without a request for a reply nothing is sent. Does not wait, and is never `full`. O(bytes), a system call.
        ///
        /// - Parameters:
        ///   - bytes: are copied.
        ///   - descriptors: remain the caller's, as with `send`.
        /// - Throws: `tooLarge`, `closed`, and `failed` with what the system has against it; then the request is dropped. `failed` with
        ///   `invalid`: it was replied to before.
        public func reply(
            _ bytes: some Collection<UInt8>, descriptors: [CInt] = []
        ) throws(RunLoop.ChannelError) {
            if !isRequest { return }
            guard let call = call.withLock({ $0.take() }) else { throw .failed(.invalid) }
            defer { runloop_call_release(call) }
            let result = withBytes(bytes) { start, count in
                runloop_call_reply(call, start, count, descriptors, descriptors.count)
            }
            if result < 0 { throw RunLoop.ChannelError(result: result) }
        }
    }
}
