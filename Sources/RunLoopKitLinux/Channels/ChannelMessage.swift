#if os(Linux)
internal import CRunLoopLinux
public import RunLoopKit
internal import Synchronization

extension RunLoop.Channel {
    /// A message that a channel has received, or the reply to a request. Any thread. A request that is freed without a reply is dropped,
    /// and its asker learns that; its channel receives nothing while there are as many as its limit.
    ///
    ///     for try await message in channel.messages {
    ///         print(message.bytes.count, "bytes")
    ///         if message.isRequest { try message.reply(message.bytes) }
    ///     }
    @safe public final class Message: Sendable {
        /// The bytes of the message, as they were sent.
        public let bytes: [UInt8]
        /// How many descriptors were sent with it. They are closed on exec, and those that nobody takes with the message.
        public let descriptorCount: Int
        /// `nil` if there are none, since most messages have none.
        private let descriptors: Guarded<[CInt?]>?
        /// Was the message sent with a request for a reply? Whether the asker still waits is not known here.
        public let isRequest: Bool
        /// A `runloop_call *`, with one reference, until it is replied to. The thread that takes it has it alone.
        @safe private nonisolated(unsafe) let call: Atomic<OpaquePointer?>

        init(_ bytes: [UInt8], _ descriptors: [CInt], call: OpaquePointer?) {
            (self.bytes, descriptorCount, isRequest) = unsafe (bytes, descriptors.count, call != nil)
            self.descriptors = descriptors.isEmpty ? nil : Guarded(descriptors.map(\.self))
            self.call = unsafe Atomic(call)
        }

        deinit {
            for case let number? in descriptors?.withLock(\.self) ?? [] { closeDescriptor(number) }
            unsafe runloop_call_release(takeCall())
        }

        /// Takes one of the descriptors, which is the caller's then, to be closed by it. O(1).
        ///
        /// - Returns: `nil` if there is none at this position, or it was taken before.
        public func takeDescriptor(at position: Int = 0) -> CInt? {
            descriptors?.withLock { numbers in numbers.indices.contains(position) ? numbers[position].take() : nil }
        }

        private func takeCall() -> OpaquePointer? { unsafe call.exchange(nil, ordering: .acquiringAndReleasing) }

        /// Answers the message with bytes and descriptors, which the asker receives as its reply. Without a request for a reply nothing is
        /// sent. Does not wait, and is never `full`. O(bytes), a system call.
        ///
        /// - Parameters:
        ///   - bytes: are copied.
        ///   - descriptors: remain the caller's, as with `send`.
        /// - Throws: `RunLoop.ChannelError`: `tooLarge`, `closed`, and `failed` with what the system has against it; then the request is
        /// dropped. `failed` with
        ///   `invalid`: it was replied to before.
        public func reply(
            _ bytes: some Collection<UInt8>, descriptors: [CInt] = []
        ) throws {
            if !isRequest { return }
            guard let call = unsafe takeCall() else { throw RunLoop.ChannelError.failed(.invalid) }
            defer { unsafe runloop_call_release(call) }
            let result = unsafe withBytes(bytes) { start, count in
                unsafe runloop_call_reply(call, start, count, descriptors, descriptors.count)
            }
            if result < 0 { throw RunLoop.ChannelError(result: result) }
        }
    }

    /// The process at the other end of a channel or a connection: the one that connected, listened, or made the socketpair. Decide by
    /// `user`: the kernel vouches for it, and a pid may be another process's by now.
    ///
    ///     guard let peer = try connection.peer, peer.user == geteuid() else {
    ///         return connection.abort()
    ///     }
    ///     print("process \(peer.process ?? 0) of this user")
    public struct Peer: Hashable, Sendable {
        /// The sender's process number (pid) when it sent the message; `nil` if it is unknown.
        public let process: Int32?
        /// Its effective user at that time.
        public let user: UInt32
        /// Its effective group at that time.
        public let group: UInt32
        /// A pidfd of it, for `Child(borrowing:on:)`, as long as the channel or connection is there, and not to be closed. `nil` before
        /// Linux 6.5, and if the process was reaped.
        public let processDescriptor: CInt?

        init(_ peer: runloop_peer) {
            process = peer.pid == 0 ? nil : peer.pid
            (user, group) = (peer.uid, peer.gid)
            processDescriptor = peer.pidfd < 0 ? nil : peer.pidfd
        }
    }

    /// The limits of a channel, each at least 1, and which users may be at the other end.
    ///
    ///     let options = RunLoop.Channel.Options(messageLimit: 8, byteLimit: 65_536)
    public struct Options: Hashable, Sendable {
        /// How many messages may wait for the other end to read.
        public var messageLimit: Int
        /// How many bytes these may have, which also limits each message in both directions.
        public var byteLimit: Int
        /// How many descriptors a message may have, in both directions, at most 250.
        public var descriptorLimit: Int
        /// How many requests of the other end may be unanswered, or have replies that it has not read, together with the messages that no
        /// task has taken yet; nothing is read meanwhile. (If replies of the other end are awaited, some more replies may
        /// wait, and as many messages again, so that the two don't wait for one another.)
        public var requestLimit: Int
        /// Otherwise the process at the other end must have the effective user of this one.
        public var allowsAnyUser: Bool

        /// The usual limits, or others.
        public init(
            messageLimit: Int = 64, byteLimit: Int = 1 << 20, descriptorLimit: Int = 16, requestLimit: Int = 64,
            allowsAnyUser: Bool = false
        ) {
            (self.messageLimit, self.byteLimit) = (messageLimit, byteLimit)
            (self.descriptorLimit, self.requestLimit) = (descriptorLimit, requestLimit)
            self.allowsAnyUser = allowsAnyUser
        }
    }
}
#endif
