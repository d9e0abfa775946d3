#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop {
    /// A socket that listens, and the connections that it gets: as a sequence for tasks, or for a closure on the loop's thread.
    ///
    ///     let listener = try RunLoop.Listener(.unix("/run/user/1000/example"), on: loop)
    ///     for try await connection in listener.connections {
    ///         Task { try await connection.writer.write("hello\n") }
    ///     }
    ///
    /// Connections wait in the kernel's queue until somebody takes them: for the sequence, until a task asks for the next one. When
    /// descriptors run out, they go on waiting there, and the listener tries again ten times a second, without using the processor
    /// meanwhile; or they are refused with a few words. A connection that its client has given up already is skipped. At most 16
    /// are accepted before something else gets its turn.
    ///
    /// A program either iterates over `connections` or calls `accept`. It invalidates the listener, or frees it, to close the
    /// socket. A forked child accepts nothing on its parent's listener, and takes nothing from it. Any thread.
    public final class Listener: Sendable {
        /// Where to listen; the same type says where to connect.
        public typealias Address = SocketAddress

        private let source: Source
        private let queue: ConnectionQueue

        /// Listens for connections at an address, from now on. Nothing is accepted before a task asks for a connection, or `accept` is
        /// called.
        ///
        /// - Parameters:
        ///   - address: where.
        ///   - backlog: how many connections may wait in the kernel's queue; `nil` is as many as the system allows.
        ///   - loop: on whose thread connections are accepted, read and written.
        ///   - options: the limits of each connection, and its mode.
        ///   - refusalText: what is sent to a connection for which there is no descriptor, before it is closed. `nil`: it waits.
        ///   - mode: in which mode connections are accepted, or in all common ones.
        ///   - onResourceShortage: called on the loop's thread when descriptors or memory have run out, once, with `tooManyDescriptors` or
        ///     `outOfMemory`; and with `nil` when a connection was accepted again.
        /// - Throws: `addressInUse`, `addressNotAvailable`, `accessDenied`, `invalidAddress`, `invalid` for a
        ///   descriptor that does not listen, `badDescriptor`,
        ///   `tooManyDescriptors` (a listener needs three, and one more to refuse), `outOfMemory`, and what else the system has
        ///   against it.
        public init(
            _ address: Address, backlog: Int? = nil, on loop: RunLoop, options: Connection.Options = .init(),
            refusalText: String? = nil, inMode mode: Mode = .common,
            onResourceShortage: (@Sendable (RunLoop.Error?) -> Void)? = nil
        ) throws {
            let queue = ConnectionQueue(loop, mode, options)
            source = try Source(
                listeningOn: address, backlog: backlog ?? 0,
                ListenerReceiver(queue: queue, refusal: refusalText, onShortage: onResourceShortage))
            self.queue = queue
        }

        deinit {
            invalidate()
        }

        /// Accepts connections from now on, and calls `handler` with each, on the loop's thread. It keeps the connection, or the
        /// connection ends. A second call, and one after an iteration over `connections` has begun, is a precondition failure.
        ///
        /// - Throws: `loopFinished`, `inheritedAcrossFork`, `outOfMemory`, `invalid` after `invalidate()`.
        public func accept(_ handler: @escaping @Sendable (Connection) -> Void) throws {
            try queue.begin(handler, source)
        }

        /// The connections, which are accepted as tasks ask for them. Any number of tasks may iterate: each connection goes to one of them.
        ///
        /// An iteration keeps the listener, and ends when its task is cancelled, when the listener is invalidated, and when the loop's
        /// thread ends. It throws the errors of the socket, of which there are none unless somebody else shuts it down, and of adding it to
        /// the loop.
        public var connections: some AsyncSequence<Connection, any Swift.Error> & Sendable {
            PulledSequence(origin: self) { listener, actor in
                try await listener.queue.next(listener.source, isolation: actor)
            }
        }

        private var descriptor: CInt { unsafe runloop_source_get_descriptor(source.core) }

        /// The port of a TCP socket, `nil` of another one, and after `invalidate()`. O(1), a system call.
        public var port: UInt16? {
            queue.isOver ? nil : UInt16(exactly: runloop_socket_get_port(descriptor, false))
        }

        /// The address on which it listens, in words: "127.0.0.1:80", "[::1]:80", "/run/x", "@abstract". "" after `invalidate()`. O(1), a
        /// system call.
        public var address: String {
            queue.isOver ? "" : RunLoopKitLinux.address(ofSocket: descriptor, isPeer: false)
        }

        /// Closes the socket, and the connections that wait. Iterations end. A second call has no effect. Allowed in the handler.
        public func invalidate() {
            queue.finish(nil)
            source.invalidate()
        }

        /// A socket that a service manager has opened for this program.
        ///
        ///     for socket in try RunLoop.Listener.takeInheritedSockets() {
        ///         let listener = try RunLoop.Listener(
        ///             .adopting(socket.fileDescriptor), on: loop)
        ///         try listener.accept { connection in server.serve(connection) }
        ///     }
        public struct InheritedSocket: Hashable, Sendable {
            /// As `FileDescriptorName=` has it; "unknown" if there are no names.
            public let name: String
            /// The socket, for `Address.adopting(_:)`.
            public let fileDescriptor: CInt
        }

        /// Takes the sockets that systemd, or a program with the same protocol, has handed over to this process, and removes LISTEN_FDS,
        /// LISTEN_PID and LISTEN_FDNAMES from the environment: a second call, and a child process, finds none. Call it early, since
        /// other threads must not use the environment meanwhile.
        ///
        /// - Returns: the sockets in their order; none if none were handed over.
        /// - Throws: `invalid` if the variables make no sense, `badDescriptor` if a descriptor is not open.
        public static func takeInheritedSockets() throws -> [InheritedSocket] {
            var capacity = 16
            while true {
                var result = -ErrorNumber.outOfMemory
                let sockets = unsafe [runloop_inherited_socket](unsafeUninitializedCapacity: capacity) {
                    buffer, count in
                    result = unsafe runloop_take_inherited_sockets(buffer.baseAddress, capacity)
                    count = Int(max(0, result))
                }
                if result >= 0 { return sockets.map(InheritedSocket.init) }
                if result != -ErrorNumber.tooMany || capacity > 100_000 { throw RunLoop.Error(result: result) }
                capacity *= 16
            }
        }
    }
}

extension RunLoop.Listener.InheritedSocket {
    fileprivate init(_ socket: runloop_inherited_socket) {
        name = unsafe withUnsafeBytes(of: socket.name) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        fileDescriptor = socket.descriptor
    }
}
#endif
