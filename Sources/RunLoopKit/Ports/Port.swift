#if os(Linux)
extension RunLoop {
    /// Receives messages on the thread of a loop, and replies to them. Values are handed over as they are: nothing is encoded or copied.
    ///
    ///     let lengths = try RunLoop.Port<String, Int>(on: loop) { message in
    ///         let length = message.request.count
    ///         message.reply(length)
    ///     }
    ///     let length = try await lengths.request("text", timeout: .seconds(1))
    ///
    /// The closure is called for one message at a time, and the loop's iteration goes on, so timers and other sources are served in a
    /// flood of messages too. A burst wakes the loop once. The messages of one sender are received in the order in which it sent them.
    ///
    /// A request is answered exactly once: by a reply, by ``Message`` being destroyed without one (`dropped`), by the end of the port if
    /// it was not received (`closed`), by its timeout or its cancellation. The port ends with its object, when it is invalidated, and when
    /// the loop's thread ends. A forked child has no port: what it sends there is `closed`.
    public final class Port<Request, Reply>: Sendable {
        private let state: PortState<Request, Reply>

        /// Makes a port that receives requests on a loop, in one of its modes. Any thread. O(1).
        ///
        /// - Parameters:
        ///   - loop: on whose thread messages are received.
        ///   - capacity: how many messages may wait to be received, at least one. `send(_:)` refuses more, and tasks wait.
        ///   - mode: in which messages are received. It is not empty as long as the port is valid.
        ///   - order: among sources, as theirs.
        ///   - receive: called on the loop's thread. A run nested in it receives further messages. Freed when the port has ended.
        /// - Throws: `loopFinished`, `inheritedAcrossFork`, `outOfMemory`.
        public init(
            on loop: RunLoop, capacity: Int = 64, inMode mode: Mode = .common, order: Int = 0,
            receive: sending @escaping (consuming Message) -> Void
        ) throws {
            precondition(capacity > 0, "A port has a capacity of at least one message.")
            state = PortState(loop, capacity: capacity, receive)
            try state.begin(inMode: mode, order: order)
        }

        deinit {
            state.end()
        }

        /// Sends a message for which no reply is expected. Any thread. O(1), one system call if the loop sleeps.
        ///
        /// - Throws: `RunLoop.PortError`: `full` if there is no space, `closed` if the port has ended. The value is destroyed then.
        public func send(_ request: sending Request) throws {
            try state.enqueue(request, mayWait: false)
        }

        /// Sends a message for which no reply is expected, and waits for space if there is none. The task blocks no thread.
        ///
        /// - Parameters:
        ///   - timeout: how long to wait at most; `nil` is as long as it takes.
        ///   - clock: measures the timeout. If its sleep fails, the timeout has passed.
        /// - Throws: `RunLoop.PortError`: `closed`, `timedOut`, `cancelled`. Then the message is not received.
        public func send(
            _ request: sending Request, timeout: Duration?,
            clock: some _Concurrency.Clock<Duration> = ContinuousClock(),
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws {
            let admission = PortAnswer<Void>()
            let number = try state.enqueue(request, admission: admission)
            let state = state
            try await admission.wait(timeout: timeout, clock: clock, isolation: actor) { state.removeWaiting(number) }
        }

        /// Sends a request, waits for space if there is none, and returns the reply. The task blocks no thread.
        ///
        ///     do {
        ///         print(try await port.request("text", timeout: .seconds(1)))
        ///     } catch RunLoop.PortError.closed, RunLoop.PortError.dropped {
        ///         print("There will be no reply.")
        ///     } catch RunLoop.PortError.timedOut {
        ///         print("Nobody waits for it any more.")
        ///     }
        ///
        /// - Parameters:
        ///   - timeout: how long to wait for the reply at most; `nil` is as long as it takes.
        ///   - clock: measures the timeout. If its sleep fails, the timeout has passed.
        /// - Throws: `RunLoop.PortError`, the reason why there is no reply, any but `full`. If the request was not received by then, it
        /// will not be.
        public func request(
            _ request: sending Request, timeout: Duration? = nil,
            clock: some _Concurrency.Clock<Duration> = ContinuousClock(),
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> sending Reply {
            let answer = PortAnswer<Reply>()
            let number = try state.enqueue(request, answer: answer)
            let state = state
            return try await answer.wait(timeout: timeout, clock: clock, isolation: actor) {
                state.remove(number)
                return true
            }
        }

        /// The loop on whose thread messages are received.
        public var loop: RunLoop { state.loop }

        /// How many messages have been sent and not been received, those that wait for space included. O(1).
        public var count: Int { state.count }

        /// Can it still receive? O(1).
        public var isValid: Bool { state.isValid }

        /// Ends the port for both sides: messages that were not received are destroyed, requests among them and tasks that wait for space
        /// get `closed`. Messages that were received can still be replied to. A second call has no effect. Any thread, `receive` too; does
        /// not wait for a call on another thread. O(messages).
        public func invalidate() { state.end() }
    }

    /// Why a port did not take a message, or why there is no reply.
    ///
    ///     do {
    ///         print(try await port.request("name", timeout: .seconds(1)))
    ///     } catch RunLoop.PortError.timedOut {
    ///         print("there was no reply in time")
    ///     } catch RunLoop.PortError.closed {
    ///         print("the port's loop has ended")
    ///     }
    public enum PortError: Swift.Error, Hashable, Sendable {
        /// As many messages wait as the port has space for.
        case full
        /// The port has ended, and the message was not received.
        case closed
        /// The receiver has destroyed the message without a reply.
        case dropped
        /// The timeout has passed.
        case timedOut
        /// The task was cancelled.
        case cancelled
    }
}
#endif
