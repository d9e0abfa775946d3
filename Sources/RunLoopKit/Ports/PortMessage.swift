#if os(Linux)
extension RunLoop.Port {
    /// A message that a port has received. It can't be copied: its owner replies, or destroys it, which reports to the asker that there
    /// will be no reply. It can be handed to another thread, or kept.
    ///
    ///     let lengths = try RunLoop.Port<String, Int>(on: loop) { message in
    ///         let length = message.request.count
    ///         message.reply(length)
    ///     }
    ///     print(try await lengths.request("seven"))
    public struct Message: ~Copyable {
        /// The request that the sender has sent.
        public let request: Request
        private let answer: PortAnswer<Reply>?

        init(_ request: Request, _ answer: PortAnswer<Reply>?) {
            self.request = request
            self.answer = answer
        }

        deinit {
            answer?.settle(.failure(.dropped))
        }

        /// Is a reply still awaited? `false` if the message was sent without a request for one, and if the asker has given up. A long
        /// piece of work may ask now and then. Any thread. O(1).
        public var isAwaited: Bool { answer?.isOpen ?? false }

        /// Replies, and ends the message. Any thread.
        ///
        /// - Returns: did somebody await the reply? If not, it was destroyed.
        @discardableResult
        public consuming func reply(_ reply: sending Reply) -> Bool {
            answer?.settle(.success(reply)) ?? false
        }
    }
}

extension RunLoop.Port.Message: Sendable where Request: Sendable {}
#endif
