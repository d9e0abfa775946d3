#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop {
    /// One end of a connection to another process, or to another thread: messages of bytes and descriptors, and replies to them.
    ///
    ///     let channel = try RunLoop.Channel(connectingTo: "lengths", on: loop) {
    ///         channel, message in
    ///         print("It says", message.bytes.count, "bytes by itself.")
    ///     }
    ///     let reply = try await channel.request("text".utf8, timeout: .seconds(1))
    ///
    /// Without a closure, tasks take what is received from ``messages``.
    ///
    /// A ``Port`` hands over values within a process; a channel carries bytes between processes, and what they mean is its users'
    /// business. The closure is called for one message at a time, in the order in which they were sent. The other process need not be
    /// trusted: what it sends is limited by ``Options``, and what no channel sends ends this one.
    ///
    /// A request is answered exactly once: by a reply, by ``Message`` being freed without one (`dropped`), by the end of the channel
    /// (`closed`), by its timeout or its cancellation. The channel ends with its object, when either side invalidates its end, and when the
    /// loop's thread ends. A forked child has no channel: what it sends there is `closed`.
    public final class Channel: Sendable {
        /// The loop on whose thread messages are received.
        public let loop: RunLoop
        let source: Source
        let senders = ChannelSenders()
        /// For tasks; `nil` if a closure receives the messages.
        private let inbox: ChannelInbox?
        private let onEnd: (@Sendable (Channel, ChannelError) -> Void)?
        private let generation = ForkGeneration()
        private let isOver = Guarded(false)

        /// Makes a channel of a connected socket, of a socketpair or from elsewhere. Any thread. O(1).
        ///
        /// - Parameters:
        ///   - descriptor: a SOCK_SEQPACKET socket of the Unix domain, which the channel takes over: it is closed by the channel, also
        ///     if this throws.
        ///   - loop: on whose thread messages are received.
        ///   - options: the limits, and which users may be at the other end.
        ///   - mode: in which messages are received, and timeouts noticed. It is not empty as long as the channel is valid.
        ///   - receive: called on the loop's thread with this channel and a message. Freed when the channel has ended, and its messages have been destroyed. `nil`: tasks
        ///     take what is received from ``messages``.
        ///   - onEnd: called on the loop's thread, once, unless `invalidate()` was called before, or the object was freed: with `closed` if the
        ///     other end is gone, with `protocolViolated`, or with `failed` and why the channel can't go on: `loopFinished`, `outOfMemory`,
        ///     `tooManyDescriptors` if a message had some, and there was no number for them. Requests that waited have been answered by
        ///     then, and what the other end had sent was received.
        /// - Throws: `RunLoop.ChannelError`: `failed` with `notPermitted` if the process at the other end belongs to another user,
        ///   `invalid` if it is no such socket, `badDescriptor`, `tooManyDescriptors`, `loopFinished`, …
        public convenience init(
            adopting descriptor: CInt, on loop: RunLoop, options: Options = Options(), inMode mode: Mode = .common,
            receive: sending ((Channel, Message) -> Void)? = nil, onEnd: (@Sendable (ChannelError) -> Void)? = nil
        ) throws {
            try self.init(.descriptor(descriptor), loop, options, mode, onEnd, receive)
        }

        /// Makes a channel to a process that listens: see ``Listener``. Does not wait for it to accept. Otherwise as adopting a socket.
        ///
        /// - Parameter path: a relative one is one in `$XDG_RUNTIME_DIR`. Abstract names are `invalid`, because anybody may take them.
        /// - Throws: `RunLoop.ChannelError`: `failed` with `connectionRefused` if there is no such path, or the process that listened there
        ///   is gone; `full` if too many wait to be accepted; and as adopting a socket.
        public convenience init(
            connectingTo path: String, on loop: RunLoop, options: Options = Options(), inMode mode: Mode = .common,
            receive: sending ((Channel, Message) -> Void)? = nil, onEnd: (@Sendable (ChannelError) -> Void)? = nil
        ) throws {
            try self.init(.path(path), loop, options, mode, onEnd, receive)
        }

        private convenience init(
            _ target: ChannelTarget, _ loop: RunLoop, _ options: Options, _ mode: Mode,
            _ onEnd: (@Sendable (ChannelError) -> Void)?, _ receive: sending ((Channel, Message) -> Void)?
        ) throws(ChannelError) {
            let onEnd = onEnd.map { onEnd in { @Sendable (_: Channel, reason: ChannelError) in onEnd(reason) } }
            let receiver = if let receive { ChannelReceiver(receive) } else { ChannelReceiver(ChannelInbox()) }
            try self.init(target, loop, options, mode, onEnd, receiver)
        }

        init(
            _ target: ChannelTarget, _ loop: RunLoop, _ options: Options, _ mode: Mode,
            _ onEnd: (@Sendable (Channel, ChannelError) -> Void)?, _ receiver: ChannelReceiver
        ) throws(ChannelError) {
            source = try Source(channel: target, options, receiver)
            (self.loop, self.onEnd, inbox) = (loop, onEnd, receiver.inbox)
            // Before the loop has it, and so before anybody calls the receiver.
            receiver.channel = self
            try begin(mode)
        }

        deinit {
            end(nil)
        }

        private func begin(_ mode: Mode) throws(ChannelError) {
            do throws(RunLoop.Error) {
                try loop.admit(source, to: mode)
            } catch {
                end(nil)
                throw .failed(error)
            }
        }

        /// What the channel receives, as tasks ask for it. A precondition failure if a closure receives it. Any thread. O(1).
        ///
        ///     let channel = try RunLoop.Channel(connectingTo: "lengths", on: loop)
        ///     for try await message in channel.messages {
        ///         try message.reply("\(message.bytes.count)".utf8)
        ///     }
        ///
        /// The other end waits while as many messages as the channel's `requestLimit` have not been taken, or are requests that have not
        /// been answered. An iteration keeps the channel, and ends when its task is cancelled, and when the channel's owner calls
        /// `invalidate()`. When the channel ends otherwise, what it had received is taken first. It throws `RunLoop.ChannelError`:
        /// `protocolViolated`, and `failed` if the channel can't go on; not because the other end is gone. If several tasks iterate, each
        /// message goes to one of them. In a forked child there is none to take.
        public var messages: some AsyncSequence<Message, any Swift.Error> & Sendable {
            precondition(inbox != nil, "The messages of a channel go to its closure or to tasks.")
            return PulledSequence(origin: self) { channel, actor in
                try await channel.nextMessage(isolation: actor)
            }
        }

        func nextMessage(
            isolation actor: isolated (any Actor)?
        ) async throws(ChannelError) -> Message? {
            // A forked child has none of its parent's threads, and nobody would resume the task.
            if generation.isOver { return nil }
            return try await inbox?.next(of: source, isolation: actor)
        }

        func received(_ message: Message, in inbox: ChannelInbox) { inbox.append(message, of: source) }

        /// Messages that had waited were sent, or can't be.
        func drained() { unsafe senders.drained(sendNow) }

        /// Sends a message for which no reply is expected. Does not wait. Any thread. O(bytes), a system call.
        ///
        /// - Parameters:
        ///   - bytes: are copied.
        ///   - descriptors: the other end gets descriptors of the same files. These remain the caller's.
        /// - Throws: `RunLoop.ChannelError`: `full`, also while tasks wait to send; `tooLarge`, `closed`, and `failed` with what the system
        ///   has against it. Then nothing was sent.
        public func send(_ bytes: some Collection<UInt8>, descriptors: [CInt] = []) throws {
            if generation.isOver { throw ChannelError.closed }
            // The bytes first: a collection may be computed, by code that uses the channel.
            let result = unsafe withBytes(bytes) { start, count in
                senders.attempt { unsafe sendNow(start, count, descriptors) }
            }
            if result < 0 { throw ChannelError(result: result) }
        }

        /// Sends a message for which no reply is expected, and waits for space if there is none: until the other end has read what was sent
        /// before. The task blocks no thread. Messages of tasks that wait are sent in the order of their calls, when the loop runs in the
        /// channel's mode. O(bytes), and O(1) amortized to be cancelled.
        ///
        /// - Parameters:
        ///   - bytes: are copied.
        ///   - descriptors: as of `send`; they must be open until this returns.
        ///   - timeout: how long to wait at most; `nil` is as long as it takes.
        ///   - clock: measures the timeout.
        /// - Throws: `RunLoop.ChannelError`: `tooLarge`, `closed`, `timedOut`, `cancelled`, and `failed` with what the system has against
        ///   it. Then nothing was sent. A call that need not wait sends even if its task is cancelled.
        public func send(
            _ bytes: some Collection<UInt8>, descriptors: [CInt] = [], timeout: Duration?,
            clock: some _Concurrency.Clock<Duration> = ContinuousClock(),
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws {
            if generation.isOver { throw ChannelError.closed }
            let (answer, senders) = (PortAnswer<ChannelSenders.Outcome>(), senders)
            let number = unsafe senders.enqueue(Array(bytes), descriptors, answer, sendNow)
            let outcome: ChannelSenders.Outcome
            do throws(PortError) {
                outcome = try await answer.wait(timeout: timeout, clock: clock, isolation: actor) {
                    senders.withdraw(number)
                }
            } catch {
                throw ChannelError(error)
            }
            try outcome.get()
        }

        /// Sends a request and returns the reply. The task blocks no thread. Any thread, any task.
        ///
        /// - Parameters:
        ///   - bytes: are copied.
        ///   - descriptors: as of `send`.
        ///   - timeout: how long to wait for the reply at most, by the monotonic clock and noticed in the channel's mode; `nil` is as long
        ///     as it takes.
        /// - Throws: as `send`, then nothing was sent; or the reason why there is no reply: `dropped`, `closed`, `timedOut`, `cancelled`.
        public func request(
            _ bytes: some Collection<UInt8>, descriptors: [CInt] = [], timeout: Duration? = nil,
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> Message {
            if generation.isOver { throw ChannelError.closed }
            let answer = PortAnswer<Message>()
            let number = try beginRequest(bytes, descriptors, timeout: timeout, answer)
            do throws(PortError) {
                return try await answer.wait(isolation: actor) { answer.settle(.failure(.cancelled)) }
            } catch {
                // Nobody takes the reply any more, so the channel need not remember the request.
                if error == .cancelled { unsafe runloop_channel_cancel(source.core, number) }
                throw ChannelError(error)
            }
        }

        /// The process at the other end, as it was connected. O(1).
        public var peer: Peer {
            var peer = runloop_peer()
            unsafe runloop_channel_get_peer(source.core, &peer)
            return Peer(peer)
        }

        /// Can it still send and receive? O(1).
        public var isValid: Bool { !generation.isOver && !isOver.withLock { $0 } }

        /// Ends the channel on this side: messages that wait for the other end to read are destroyed, and requests get `closed`. `onEnd` is
        /// not called, and iterations of ``messages`` end at once. A second call has no effect. Any thread, `receive` too; does not wait
        /// for a call on another thread. O(messages, requests).
        public func invalidate() { end(nil) }

        /// - Parameter reason: `nil` if its owner ends it, which needs no notification.
        func end(_ reason: ChannelError?) {
            if generation.isOver { return }
            let wasOver = isOver.withLock { isOver in
                defer { isOver = true }
                return isOver
            }
            if wasOver {
                // What was received before the other end went, and not taken, is dropped with the own end.
                if reason == nil { inbox?.finish(nil) }
                return
            }
            source.invalidate()
            senders.finish()
            inbox?.finish(reason)
            if let reason { onEnd?(self, reason) }
        }
    }
}
#endif
