internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop.Channel {
    /// What a channel receives, as tasks ask for it. The other end waits while as many messages as the channel's `requestLimit` have not
    /// been taken, or are requests that have not been answered.
    ///
    /// An iteration ends when its task is cancelled, and when the channel's owner calls `invalidate()`. When the channel ends otherwise, what
    /// it had received is taken first. If several tasks iterate, each message goes to one of them. In a forked child there is none to take.
    public struct Messages: AsyncSequence, Sendable {
        /// What it consists of.
        public typealias Element = ReceivedMessage
        /// `failed`: the other end has broken the protocol, or the channel can't go on. Not that the other end is gone.
        public typealias Failure = RunLoop.ChannelError
        let channel: RunLoop.Channel

        /// Begins an iteration, which keeps the channel.
        public func makeAsyncIterator() -> Iterator { Iterator(channel: channel) }

        /// An iteration, for one task at a time.
        public struct Iterator: AsyncIteratorProtocol {
            let channel: RunLoop.Channel

            /// The next one, which it waits for if needed; `nil` at the end.
            public mutating func next() async throws(RunLoop.ChannelError) -> ReceivedMessage? {
                try await next(isolation: nil)
            }

            /// The next one, which it waits for if needed; `nil` at the end.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(RunLoop.ChannelError) -> ReceivedMessage? {
                try await channel.nextMessage(isolation: actor)
            }
        }
    }

    /// A message that a task has taken from a channel's ``Messages``. A request that is freed without a reply is dropped. Any thread.
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
