#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
public import RunLoopKit
internal import Synchronization

extension RunLoop {
    /// A connected stream socket, TCP or Unix: a reader, a writer, and what they have in common, the end and a limit for silence.
    ///
    ///     for try await connection in try RunLoop.Listener(.tcp(port: 7777), on: loop)
    ///         .connections
    ///     {
    ///         Task {
    ///             let reader = connection.makeReader()
    ///             for try await line in reader.lines(limit: 4096) {
    ///                 try await connection.writer.write(line + "\n")
    ///             }
    ///             try await connection.close()
    ///         }
    ///     }
    ///
    /// If nothing has arrived for the idle limit, and nothing was sent, the connection ends, and its reader and writer throw `timedOut`;
    /// so they do if a line that has begun is not complete within the message limit. What has arrived counts, though the loop or the
    /// program may be too busy to read it, and while the program reads nothing, the peer need not send anything: that cuts nobody off,
    /// unless output waits that the peer does not take. That is noticed without a timer that is moved for every byte.
    ///
    /// The socket is closed when the connection, its reader and its writer have been freed: a task keeps the one that it uses.
    /// `close()` and `abort()` end the connection for the peer, and for waiting tasks, at once. Any thread.
    public final class Connection: Sendable {
        /// The queue of what is written to the peer. Finishing it ends this direction only.
        public let writer: Writer
        private let socket: ConnectedSocket
        private let loop: RunLoop
        private let mode: Mode
        private let hasReader = Atomic(false)

        /// Makes a connection of a connected socket, which it takes over: it is closed by the connection, also if this throws.
        ///
        /// - Parameters:
        ///   - descriptor: a connected stream socket.
        ///   - loop: on whose thread it is read and written.
        ///   - options: its limits and its mode.
        /// - Throws: as making a writer.
        public convenience init(
            adopting descriptor: CInt, on loop: RunLoop, options: Options = Options()
        ) throws {
            try self.init(descriptor, loop, options)
        }

        /// The same, where the type of the error is known.
        init(_ descriptor: CInt, _ loop: RunLoop, _ options: Options) throws(RunLoop.Error) {
            let limits = ConnectionLimits(loop, idle: options.idleLimit, message: options.messageLimit)
            let socket = unsafe ConnectedSocket(descriptor, now: runloop_get_now_ns(loop.core), limits)
            let writer = try Writer(
                descriptor, loop, options.outputLimit, false, options.mode, socket, resets: options.resetsWhenAborted)
            try limits.start(socket, writer, options.mode)
            (self.socket, self.writer, self.loop, mode) = (socket, writer, loop, options.mode)
        }

        /// The reader of the connection. There is one, for one task, so a second call is a precondition failure. Any thread.
        ///
        /// - Parameter bufferSize: as for ``Reader``.
        public func makeReader(bufferSize: Int = 65_536) -> sending Reader {
            precondition(!hasReader.exchange(true, ordering: .relaxed), "A connection has one reader.")
            socket.limits.endWait()
            return Reader(InputOfDescriptor(loop, socket.number, mode, bufferSize: bufferSize, socket: socket))
        }

        /// Ends the connection in order: waits until all output was sent, signals the end to the peer, and ends it. Input
        /// that nobody has read is dropped. A task that waits for input gets the end of it. If the task is cancelled while it
        /// waits, the connection is aborted. A second call has no effect.
        ///
        /// - Throws: what the writer throws, if output could not be sent. The connection has ended in any case.
        public func close(isolation actor: isolated (any Actor)? = #isolation) async throws {
            defer { end(nil) }
            if isEnded { return }
            if try await writer.finish(isolation: actor) { socket.discardInput() }
        }

        /// Ends the connection at once, and drops output that waits. Reader and writer throw `error`; without one, the reader gets
        /// the end of the input, and the writer throws `invalid`. A second call has no effect. Any thread.
        public func abort(because error: RunLoop.Error? = nil) { end(error) }

        /// When the connection ends with `timedOut`, whatever comes and goes until then; `nil`, as at first, is never. For what takes
        /// several lines, a request or a whole exchange: set it when that begins, and `nil` when it is complete.
        ///
        ///     connection.deadline = .now + .seconds(10)
        ///     guard let header = try await reader.line() else { return }
        ///     …
        ///     connection.deadline = nil
        ///
        /// It is by the loop's time, and never early. As for the other limits, a loop that is late first reads what has arrived by then for
        /// a task that waits for it, and sends what was written by then and the peer takes; nothing that comes later. Ignored when the
        /// connection has ended. Any thread. O(log deadlines).
        public var deadline: Instant? {
            get { socket.limits.deadline }
            set { if !isEnded { socket.limits.setDeadline(newValue, of: socket, writer, mode) } }
        }

        /// The socket, for its options, and to know connections apart: valid as long as the connection, not to be closed. O(1).
        public var fileDescriptor: CInt { socket.number }

        /// The address of the other side, in words: "127.0.0.1:80", "[::1]:80", "/run/x", "@abstract"; "" for a Unix socket without one,
        /// and if it has gone.
        public var peerAddress: String { address(ofSocket: socket.number, isPeer: true) }

        /// The address of this side of the connection, in words. As above.
        public var localAddress: String { address(ofSocket: socket.number, isPeer: false) }

        /// The process at the other end of a Unix socket; `nil` for another socket.
        ///
        ///     guard try connection.peer?.user == geteuid() else {
        ///         return connection.abort()
        ///     }
        ///
        /// - Throws: `tooManyDescriptors`: its pidfd, which the connection has from the first call on, needs one.
        public var peer: Channel.Peer? {
            get throws { try socket.peer.map(Channel.Peer.init) }
        }

        private var isEnded: Bool { !writer.isValid }

        private func end(_ error: RunLoop.Error?) {
            if !isEnded { Self.end(socket, writer, because: error) }
        }

        static func end(_ socket: ConnectedSocket, _ writer: Writer?, because error: RunLoop.Error?) {
            socket.shutDown(because: error)
            writer?.end(because: error ?? .invalid)
        }

        /// The limits of a connection, and its mode.
        ///
        ///     let options = RunLoop.Connection.Options(
        ///         idleLimit: .seconds(60), messageLimit: .seconds(10))
        ///     let listener = try RunLoop.Listener(
        ///         .tcp(port: 7777), on: loop, options: options)
        public struct Options: Hashable, Sendable {
            /// How long nothing may arrive and nothing be sent, greater than zero; `nil` is as long as it takes. The connection ends no
            /// earlier, and an eighth later at most if the loop is not busy. It ends not at all while there is a reader and no task
            /// waits for it, or there is no reader and something to read, which the end of the input is as well; but it does if output
            /// waits that the peer does not take.
            public var idleLimit: Duration?
            /// How long a call of the reader waits for the rest of a line of which it has a part, greater than zero; `nil` is as long as
            /// it takes. It ends a peer that sends a byte now and then, which no idle limit does. What limits a request of several lines
            /// is ``RunLoop/Connection/deadline``. As for `idleLimit`, a line that has arrived by then is read, however late.
            public var messageLimit: Duration?
            /// How many bytes of output may wait.
            public var outputLimit: Int
            /// A connection that ends before `close()` or the writer's `finish()` has sent everything is reset when its socket is closed:
            /// aborted, by a limit, or freed. Then the kernel keeps nothing for a peer that does not read, and that reads an error in place
            /// of an end. Otherwise what was sent may stay there for minutes.
            public var resetsWhenAborted: Bool
            /// In which mode it is read and written, or in all common ones.
            public var mode: Mode

            /// Sets options of a connection's socket, and its limits.
            public init(
                idleLimit: Duration? = nil, messageLimit: Duration? = nil, outputLimit: Int = 65_536,
                resetsWhenAborted: Bool = false, mode: Mode = .common
            ) {
                self.idleLimit = idleLimit
                self.messageLimit = messageLimit
                self.outputLimit = outputLimit
                self.resetsWhenAborted = resetsWhenAborted
                self.mode = mode
            }
        }
    }
}

/// The address of a socket as text, "" if there is none.
func address(ofSocket descriptor: CInt, isPeer: Bool) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { text in
        let length = unsafe runloop_socket_get_address(descriptor, isPeer, text.baseAddress, text.count)
        guard length > 0 else { return "" }
        return unsafe String(
            decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[..<Int(length)]), as: UTF8.self)
    }
}
#endif
