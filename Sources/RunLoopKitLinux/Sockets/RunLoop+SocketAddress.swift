#if os(Linux)
public import RunLoopKit

extension RunLoop {
    /// The address of a stream socket: a port, or a Unix socket; to listen on or to connect to.
    ///
    ///     let listener = try RunLoop.Listener(.tcp(port: 8080), on: loop)
    ///     let client = try await RunLoop.Connection.connect(
    ///         to: .tcp("example.org", port: 80), within: .seconds(10), on: loop)
    ///
    /// To listen, a TCP address is the text of a number, or a socket that the program has; to connect, a name is looked up.
    public struct SocketAddress: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case tcp(String, port: UInt16)
            case unix(String, permissions: UInt32)
            case abstract(String)
            case descriptor(CInt)
        }

        let kind: Kind

        /// An address of this machine: "127.0.0.1" for its own programs, "::1", "fe80::1%eth0", "0.0.0.0" for all of IPv4, "::"
        /// for all of IPv6 and IPv4. Port 0: the kernel chooses one, which `port` gives. To connect to, a name, too.
        public static func tcp(_ address: String = "127.0.0.1", port: UInt16) -> SocketAddress {
            SocketAddress(kind: .tcp(address, port: port))
        }

        /// A Unix socket with a path, of at most 107 bytes. The permissions are for listening: only its owner may connect unless
        /// others are given. A path that a program has left behind is replaced; it is removed with the listener.
        public static func unix(_ path: String, permissions: UInt32 = 0o600) -> SocketAddress {
            SocketAddress(kind: .unix(path, permissions: permissions))
        }

        /// A Unix socket without a path and without permissions: any process in the network namespace may connect.
        public static func abstract(_ name: String) -> SocketAddress { SocketAddress(kind: .abstract(name)) }

        /// A listening socket from elsewhere, which the listener takes over and closes: see `takeInheritedSockets()`.
        public static func adopting(_ descriptor: CInt) -> SocketAddress {
            SocketAddress(kind: .descriptor(descriptor))
        }
    }
}
#endif
