#if os(Linux)
public import RunLoopKit

extension RunLoop.Connection {
    /// Connects to an address, without blocking a thread.
    ///
    ///     let connection = try await RunLoop.Connection.connect(
    ///         to: .tcp("example.org", port: 80), within: .seconds(5), on: loop)
    ///
    /// A name is looked up on a thread of its own, by the C library. If it has several addresses, they are tried as RFC 8305 has it: IPv6
    /// and IPv4 by turns, the next one 250 ms after the last, or at once when that has failed; and the first connection counts. A Unix
    /// socket whose queue is full is tried again until the limit. Any thread.
    ///
    /// - Parameters:
    ///   - address: of a listener, here or elsewhere; or with a name in place of the number.
    ///   - limit: for all of it, by the loop's time; `nil` is as long as the system takes, which may be minutes.
    ///   - loop: on whose thread it is connected, read and written.
    ///   - options: the limits of the connection, and its mode.
    ///   - socketOptions: those of the socket, for TCP.
    /// - Throws: `CancellationError` if the task is cancelled before: then nothing is left of it. Otherwise a ``RunLoop/Error``:
    ///   `nameNotFound`, `connectionRefused`, `timedOut`, `invalidAddress` (also for an option out of range), `tooManyDescriptors`, `outOfMemory`, `tooManyThreads`,
    ///   `loopFinished`, and what else the system has against it. If there were several addresses it is the error of the first, and its
    ///   description says what became of each.
    public static func connect(
        to address: RunLoop.SocketAddress, within limit: Duration? = nil, on loop: RunLoop,
        options: Options = Options(), socketOptions: SocketOptions = SocketOptions(),
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> RunLoop.Connection {
        let outcome = ConnectOutcome(address.target)
        let source = try RunLoop.Source(connectingTo: address, within: limit, on: loop, socketOptions, outcome)
        try Task.checkCancellation()
        try loop.add(source, forMode: options.mode)
        let descriptor = try await outcome.answer.wait(isolation: actor) {
            source.invalidate()
            outcome.settle(.failure(CancellationError()))
        }
        return try RunLoop.Connection(adopting: descriptor, on: loop, options: options)
    }

    /// Options of a TCP socket that is about to be connected or accepted. Those that are `nil` are as the system has them.
    ///
    ///     var options = RunLoop.Connection.SocketOptions()
    ///     options.keepAlive = .init(idle: .seconds(60))
    ///     options.userTimeout = .seconds(30)
    ///     let client = try await RunLoop.Connection.connect(
    ///         to: .tcp("example.org", port: 80), on: loop, socketOptions: options)
    public struct SocketOptions: Hashable, Sendable {
        /// From which address of this machine, as a number.
        public var localAddress: String?
        /// Through which interface alone.
        public var interface: String?
        /// The peer is asked for a sign of life when it has been silent.
        public var keepAlive: KeepAlive?
        /// How long what was sent may be unacknowledged, in milliseconds, rounded up.
        public var userTimeout: Duration?
        /// Small pieces are sent together, which may delay them. Otherwise each is sent at once, as those of a listener's connections are.
        public var delaysSmallPieces = false

        /// Options that are all as the system has them, except that small pieces are sent at once.
        public init() {}

        /// How a peer is asked for signs of life. In seconds, rounded up, at most 32,767.
        ///
        ///     var options = RunLoop.Connection.SocketOptions()
        ///     // After a minute of silence every ten seconds, and given up after three.
        ///     options.keepAlive = .init(
        ///         idle: .seconds(60), interval: .seconds(10), count: 3)
        public struct KeepAlive: Hashable, Sendable {
            /// After how much silence it begins, greater than zero.
            public var idle: Duration
            /// How long the peer may take for each answer.
            public var interval: Duration?
            /// After how many missing answers the connection ends with `timedOut`, at most 127.
            public var count: Int?

            /// Signs of life after so much silence.
            public init(idle: Duration, interval: Duration? = nil, count: Int? = nil) {
                precondition(idle > .zero, "A peer is asked for signs of life after a silence greater than zero.")
                (self.idle, self.interval, self.count) = (idle, interval, count)
            }
        }
    }
}
#endif
