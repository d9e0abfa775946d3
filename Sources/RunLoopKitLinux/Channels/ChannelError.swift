#if os(Linux)
public import RunLoopKit

extension RunLoop {
    /// Why a channel could not be made, did not take a message, or has ended, or why there is no reply.
    ///
    ///     do {
    ///         try await channel.send(Array("hello".utf8), timeout: .seconds(1))
    ///     } catch RunLoop.ChannelError.timedOut {
    ///         print("the other process does not read")
    ///     } catch RunLoop.ChannelError.closed {
    ///         print("the other process has gone")
    ///     }
    public enum ChannelError: Swift.Error, Hashable, Sendable {
        /// As many messages, or bytes, wait for the other end to read as the limits allow; or too many connections wait to be accepted.
        case full
        /// One message has more bytes or descriptors than the limits allow.
        case tooLarge
        /// The channel has ended. As the reason of an end: the other side is gone, and what it had sent was received.
        case closed
        /// The other side has sent what no channel sends, or more than the limits allow, which has ended the channel.
        case protocolViolated
        /// The receiver has destroyed the message without a reply.
        case dropped
        /// The timeout has passed.
        case timedOut
        /// The task was cancelled.
        case cancelled
        /// The system, the loop, or the process at the other end has refused it.
        case failed(Error)

        init(result: Int32, subject: String? = nil) {
            self =
                switch -result {
                case ErrorNumber.tryAgain: .full
                case ErrorNumber.lineTooLong: .tooLarge
                case ErrorNumber.brokenPipe, ErrorNumber.inheritedAcrossFork: .closed
                case ErrorNumber.noMessage: .dropped
                case ErrorNumber.timedOut: .timedOut
                case ErrorNumber.noSuchFile: .failed(Error(result: -ErrorNumber.connectionRefused, subject: subject))
                default: .failed(Error(result: result, of: .channel, subject: subject))
                }
        }

        /// Of a channel that has ended by itself.
        init(endedBy result: Int32) {
            self =
                switch -result {
                case ErrorNumber.brokenPipe: .closed
                case ErrorNumber.protocolViolated: .protocolViolated
                default: .failed(Error(result: result))
                }
        }

        init(_ error: PortError) {
            self =
                switch error {
                case .full: .full
                case .closed: .closed
                case .dropped: .dropped
                case .timedOut: .timedOut
                case .cancelled: .cancelled
                }
        }
    }
}

extension RunLoop.ChannelError: CustomStringConvertible {
    /// Why the channel failed, as a sentence.
    public var description: String {
        switch self {
        case .full: "The other process does not take its messages, or connections, as fast as they come."
        case .tooLarge: "The message has more bytes or descriptors than the limits of the channel allow."
        case .closed: "The channel has ended."
        case .protocolViolated:
            "The other process has sent what no channel sends, or more than the limits of the channel allow."
        case .dropped: "The other process has dropped the request, and will not reply."
        case .timedOut: "The other process did not reply, or make space for the message, in time."
        case .cancelled: "The task was cancelled while it waited for a reply, or for space for its message."
        case .failed(let error): error.description
        }
    }
}
#endif
