internal import CRunLoopCore
internal import CRunLoopLinux
internal import RunLoopKit

/// A `runloop_channel`.
final class ChannelHandle: Sendable {
    enum Target {
        /// Taken over, also if there is an error.
        case descriptor(CInt)
        case path(String)
    }

    private let source: RunLoop.Source
    private var core: OpaquePointer { source.core }
    private let senders = ChannelSenders()

    init(
        _ target: Target, _ options: RunLoop.Channel.Options, _ receiver: ChannelReceiver
    ) throws(RunLoop.ChannelError) {
        var config = runloop_channel_config(options)
        config.context.info = retainedInfo(receiver)
        config.context.release = releaseInfo
        config.receive = { _, message, info in
            guard let message else { return }
            withInfo(info, as: ChannelReceiver.self) { $0.received(&message.pointee) }
        }
        config.ended = { _, reason, info in
            withInfo(info, as: ChannelReceiver.self) { $0.channel?.end(RunLoop.Channel.End(result: reason)) }
        }
        config.drained = { _, _, info in
            withInfo(info, as: ChannelReceiver.self) { $0.channel?.drained() }
        }
        config.cancel = { channel, _, _, info in
            withInfoAtEndOfLoop(channel, info, as: ChannelReceiver.self) {
                $0.channel?.end(.failed(.loopFinished))
            }
        }
        var core: OpaquePointer?
        let result =
            switch target {
            case .descriptor(let descriptor): runloop_channel_create(descriptor, &config, &core)
            case .path(let path):
                path.utf8.contains(0) ? -ErrorNumber.invalid : runloop_channel_connect(path, &config, &core)
            }
        guard result == 0, let core else {
            releaseInfo(config.context.info)
            switch target {
            case .descriptor(let descriptor):
                closeDescriptor(descriptor)
                throw RunLoop.ChannelError(result: result, subject: "descriptor \(descriptor)")
            case .path(let path): throw RunLoop.ChannelError(result: result, subject: path)
            }
        }
        source = RunLoop.Source(core: core)
    }

    func add(to loop: RunLoop, _ mode: RunLoop.Mode) throws(RunLoop.Error) { try loop.add(source, forMode: mode) }

    func send(_ bytes: some Collection<UInt8>, _ descriptors: [CInt]) -> Int32 {
        // The bytes first: a collection may be computed, by code that uses the channel.
        withBytes(bytes) { start, count in senders.attempt { send(start, count, descriptors) } }
    }

    private func send(_ start: UnsafePointer<UInt8>?, _ count: Int, _ descriptors: [CInt]) -> Int32 {
        runloop_channel_send(core, start, count, descriptors, descriptors.count)
    }

    /// Settles the answer when the message was sent, now or later, or can't be.
    ///
    /// - Returns: the number by which it can be withdrawn.
    func send(_ bytes: [UInt8], _ descriptors: [CInt], _ answer: PortAnswer<ChannelSenders.Outcome>) -> UInt {
        senders.enqueue(bytes, descriptors, answer, send)
    }

    func withdraw(_ number: UInt) -> Bool { senders.withdraw(number) }

    /// Messages that had waited were sent, or can't be.
    func drained() { senders.drained(send) }

    func holdMessage() { runloop_channel_hold_message(core) }
    func releaseMessage() { runloop_channel_release_message(core) }

    /// `answer` is settled by the channel, unless there is an error.
    ///
    /// - Returns: the number of the request.
    func request(
        _ bytes: some Collection<UInt8>, _ descriptors: [CInt], timeout: Int64?,
        _ answer: PortAnswer<RunLoop.Channel.Message>
    ) throws(RunLoop.ChannelError) -> UInt64 {
        var config = runloop_channel_request_config()
        config.deadline_ns = timeout.map(Self.deadline) ?? Nanoseconds.never
        config.info = retainedInfo(answer)
        config.replied = { reply, descriptors, count, info in
            guard let reply = reply?.pointee else { return }
            withInfo(info, as: PortAnswer<RunLoop.Channel.Message>.self) { answer in
                answer.settle(RunLoop.Channel.Message.result(of: reply, descriptors, count))
            }
            releaseInfo(info)
        }
        config.discard = { info in
            withInfo(info, as: PortAnswer<RunLoop.Channel.Message>.self) { $0.settle(.failure(.closed)) }
            releaseInfo(info)
        }
        var number: UInt64 = 0
        let result = withBytes(bytes) { start, count in
            senders.attempt {
                runloop_channel_request(core, start, count, descriptors, descriptors.count, &config, &number)
            }
        }
        if result < 0 {
            releaseInfo(config.info)
            throw RunLoop.ChannelError(result: result)
        }
        return number
    }

    /// No effect if the request has been answered.
    func cancel(_ number: UInt64) { runloop_channel_cancel(core, number) }

    /// Of machine time; 0 would be none.
    private static func deadline(after timeout: Int64) -> Int64 {
        let (sum, overflow) = runloop_get_now_ns(nil).addingReportingOverflow(timeout)
        return overflow ? Nanoseconds.never : max(1, sum)
    }

    var peer: RunLoop.Channel.Peer {
        var peer = runloop_peer()
        runloop_channel_get_peer(core, &peer)
        return RunLoop.Channel.Peer(peer)
    }

    func invalidate() {
        source.invalidate()
        senders.finish()
    }
}

/// What a channel calls. Sendable because the closure is called by the loop's thread alone, and the rest is read-only by then.
final class ChannelReceiver: @unchecked Sendable {
    private enum Target {
        /// Called on the loop's thread only.
        case closure((RunLoop.Channel, RunLoop.Channel.Message) -> Void)
        case inbox(ChannelInbox)
    }

    /// Written before the loop has the channel.
    weak var channel: RunLoop.Channel?
    private let target: Target

    init(_ receive: sending @escaping (RunLoop.Channel, RunLoop.Channel.Message) -> Void) {
        target = .closure(receive)
    }

    init(_ inbox: ChannelInbox) {
        target = .inbox(inbox)
    }

    /// `nil` if a closure receives the messages.
    var inbox: ChannelInbox? {
        if case .inbox(let inbox) = target { return inbox }
        return nil
    }

    func received(_ message: inout runloop_channel_message) {
        // Its owner has just freed it: the message is dropped.
        guard let channel else { return }
        let bytes = [UInt8](UnsafeRawBufferPointer(start: message.bytes, count: message.length))
        let descriptors = takeDescriptors(message.descriptors, message.descriptor_count)
        let call = message.call.flatMap(runloop_call_retain)
        let message = RunLoop.Channel.Message(bytes, descriptors, call: call)
        switch target {
        case .closure(let receive): receive(channel, message)
        case .inbox(let inbox): channel.received(message, in: inbox)
        }
    }
}

/// The core closes those that are not taken.
private func takeDescriptors(_ start: UnsafeMutablePointer<CInt>?, _ count: Int) -> RunLoop.Channel.Descriptors {
    guard let start, count > 0 else { return .none }
    let numbers = UnsafeMutableBufferPointer(start: start, count: count)
    defer { numbers.update(repeating: -1) }
    return RunLoop.Channel.Descriptors(Array(numbers))
}

/// The bytes where they are, or a copy in one piece.
func withBytes<Result>(_ bytes: some Collection<UInt8>, _ body: (UnsafePointer<UInt8>?, Int) -> Result) -> Result {
    bytes.withContiguousStorageIfAvailable { body($0.baseAddress, $0.count) }
        ?? Array(bytes).withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
}

extension RunLoop.Channel.Message {
    fileprivate static func result(
        of reply: runloop_reply, _ descriptors: UnsafeMutablePointer<CInt>?, _ count: Int
    ) -> Result<RunLoop.Channel.Message, RunLoop.PortError> {
        switch -reply.result {
        case 0:
            let bytes = [UInt8](UnsafeRawBufferPointer(start: reply.bytes, count: reply.length))
            return .success(RunLoop.Channel.Message(bytes, takeDescriptors(descriptors, count), call: nil))
        case ErrorNumber.noMessage: return .failure(.dropped)
        case ErrorNumber.timedOut: return .failure(.timedOut)
        default: return .failure(.closed)
        }
    }
}

extension runloop_channel_config {
    fileprivate init(_ options: RunLoop.Channel.Options) {
        let limits = [options.messageLimit, options.byteLimit, options.descriptorLimit, options.requestLimit]
        precondition(limits.allSatisfy { $0 > 0 }, "Each limit of a channel is at least 1.")
        self.init()
        max_messages = options.messageLimit
        max_bytes = options.byteLimit
        max_descriptors = options.descriptorLimit
        max_calls = options.requestLimit
        allows_any_user = options.allowsAnyUser
    }
}
