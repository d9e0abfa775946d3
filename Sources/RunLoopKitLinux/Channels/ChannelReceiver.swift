#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
internal import RunLoopKit

/// What a channel is made of.
enum ChannelTarget {
    /// Taken over, also if there is an error.
    case descriptor(CInt)
    case path(String)
}

extension RunLoop.Source {
    /// Makes a `runloop_channel`.
    convenience init(
        channel target: ChannelTarget, _ options: RunLoop.Channel.Options, _ receiver: ChannelReceiver
    ) throws(RunLoop.ChannelError) {
        let subject =
            switch target {
            case .descriptor(let descriptor): "descriptor \(descriptor)"
            case .path(let path): path
            }
        let failure = { RunLoop.ChannelError(result: $0, subject: subject) }
        unsafe try self.init(receiver: receiver, failure: failure) { context, channel in
            var config = unsafe runloop_channel_config(options)
            unsafe config.context = context
            unsafe config.receive = { _, message, info in
                guard let message = unsafe message else { return }
                unsafe withInfo(info, as: ChannelReceiver.self) { unsafe $0.received(&message.pointee) }
            }
            unsafe config.ended = { _, reason, info in
                unsafe withInfo(info, as: ChannelReceiver.self) {
                    $0.channel?.end(RunLoop.ChannelError(endedBy: reason))
                }
            }
            unsafe config.drained = { _, _, info in
                unsafe withInfo(info, as: ChannelReceiver.self) { $0.channel?.drained() }
            }
            unsafe config.cancel = { channel, _, _, info in
                unsafe withInfoAtEndOfLoop(channel, info, as: ChannelReceiver.self) {
                    $0.channel?.end(.failed(.loopFinished))
                }
            }
            switch target {
            case .descriptor(let descriptor):
                let result = unsafe runloop_channel_create(descriptor, &config, &channel)
                if result < 0 { closeDescriptor(descriptor) }
                return result
            case .path(let path):
                return unsafe path.utf8.contains(0)
                    ? -ErrorNumber.invalid : runloop_channel_connect(path, &config, &channel)
            }
        }
    }
}

extension RunLoop.Channel {
    /// `answer` is settled by the channel, unless there is an error.
    ///
    /// - Returns: the number of the request.
    func beginRequest(
        _ bytes: some Collection<UInt8>, _ descriptors: [CInt], timeout: Duration?,
        _ answer: PortAnswer<RunLoop.Channel.Message>
    ) throws(RunLoop.ChannelError) -> UInt64 {
        var config = unsafe runloop_channel_request_config()
        unsafe config.deadline_ns = timeout.map(Self.deadline) ?? Nanoseconds.never
        unsafe config.info = answer.retained()
        unsafe config.replied = { reply, descriptors, count, info in
            guard let reply = unsafe reply?.pointee, let info = unsafe info else { return }
            unsafe PortAnswer(taking: info).settle(RunLoop.Channel.Message.result(of: reply, descriptors, count))
        }
        unsafe config.discard = { info in
            guard let info = unsafe info else { return }
            unsafe PortAnswer<RunLoop.Channel.Message>(taking: info).settle(.failure(.closed))
        }
        var number: UInt64 = 0
        let result = unsafe withBytes(bytes) { start, count in
            senders.attempt {
                unsafe runloop_channel_request(
                    source.core, start, count, descriptors, descriptors.count, &config, &number)
            }
        }
        if result < 0 {
            unsafe releaseInfo(config.info)
            throw RunLoop.ChannelError(result: result)
        }
        return number
    }

    /// Of machine time; 0 would be none.
    private static func deadline(after timeout: Duration) -> Int64 {
        max(1, Nanoseconds.sum(runloop_get_now_ns(nil), Nanoseconds.of(timeout)))
    }

    /// Sends, or gives the reason why not. No user code.
    func sendNow(_ start: UnsafePointer<UInt8>?, _ count: Int, _ descriptors: [CInt]) -> Int32 {
        unsafe runloop_channel_send(source.core, start, count, descriptors, descriptors.count)
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
        let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: message.bytes, count: message.length))
        let descriptors = unsafe takeDescriptors(message.descriptors, message.descriptor_count)
        let call = unsafe message.call.flatMap(runloop_call_retain)
        let message = unsafe RunLoop.Channel.Message(bytes, descriptors, call: call)
        switch target {
        case .closure(let receive): receive(channel, message)
        case .inbox(let inbox): channel.received(message, in: inbox)
        }
    }
}

/// The core closes those that are not taken.
private func takeDescriptors(_ start: UnsafeMutablePointer<CInt>?, _ count: Int) -> [CInt] {
    guard let start = unsafe start, count > 0 else { return [] }
    let numbers = unsafe UnsafeMutableBufferPointer(start: start, count: count)
    defer { unsafe numbers.update(repeating: -1) }
    return unsafe Array(numbers)
}

extension RunLoop.Channel.Message {
    fileprivate static func result(
        of reply: runloop_reply, _ descriptors: UnsafeMutablePointer<CInt>?, _ count: Int
    ) -> Result<RunLoop.Channel.Message, RunLoop.PortError> {
        switch unsafe -reply.result {
        case 0:
            let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: reply.bytes, count: reply.length))
            return unsafe .success(RunLoop.Channel.Message(bytes, takeDescriptors(descriptors, count), call: nil))
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
        unsafe self.init()
        unsafe max_messages = options.messageLimit
        unsafe max_bytes = options.byteLimit
        unsafe max_descriptors = options.descriptorLimit
        unsafe max_calls = options.requestLimit
        unsafe allows_any_user = options.allowsAnyUser
    }
}
#endif
