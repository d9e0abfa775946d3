import Synchronization

#if canImport(Glibc)
import Glibc
private let stream = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
#elseif canImport(Musl)
import Musl
private let stream = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK
#endif

/// A failed system call, and its error.
struct SystemError: Error, CustomStringConvertible {
    let call: String
    let number: CInt

    /// The error of the call that has just failed; no other call may come in between.
    init(_ call: String) {
        self.call = call
        number = errno
    }

    var description: String { "\(call): \(String(cString: strerror(number)))" }
}

/// A descriptor with one owner, who may give it away. Closed with this object otherwise: also if it was in a port that has ended.
final class Socket: Sendable {
    private let number: Atomic<CInt>

    init(_ number: CInt) { self.number = Atomic(number) }

    /// Another descriptor of a connection. `nil`: there is none.
    init?(sharing descriptor: CInt) {
        let number = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        if number < 0 { return nil }
        self.number = Atomic(number)
    }

    deinit {
        let number = take()
        if number >= 0 { close(number) }
    }

    /// The descriptor, which is the caller's then; -1 if it was taken before.
    func take() -> CInt { number.exchange(-1, ordering: .acquiringAndReleasing) }

    /// Sockets that listen on the same port: the kernel gives each connection to one of them, by a hash of its addresses and ports.
    static func listening(on port: UInt16, count: Int) throws(SystemError) -> (sockets: [Socket], port: UInt16) {
        var (sockets, port) = ([Socket](), port)
        for _ in 0..<count {
            let (socket, chosen) = try listen(on: port)
            sockets.append(socket)
            port = chosen
        }
        return (sockets, port)
    }

    private static func listen(on port: UInt16) throws(SystemError) -> (Socket, UInt16) {
        let number = socket(AF_INET, stream, 0)
        if number < 0 { throw SystemError("socket") }
        let owner = Socket(number)
        var yes: CInt = 1
        for option in [SO_REUSEADDR, SO_REUSEPORT] {
            let size = socklen_t(MemoryLayout<CInt>.size)
            if setsockopt(number, SOL_SOCKET, option, &yes, size) < 0 { throw SystemError("setsockopt") }
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(number, address, size) < 0 || Self.start(number) < 0 ? -1 : getsockname(number, address, &size)
            }
        }
        if result < 0 { throw SystemError("port \(port)") }
        return (owner, UInt16(bigEndian: address.sin_port))
    }

    /// Inside the type, the name of the call would be the method above.
    private static func start(_ number: CInt) -> CInt {
        #if canImport(Glibc)
        Glibc.listen(number, SOMAXCONN)
        #else
        Musl.listen(number, SOMAXCONN)
        #endif
    }
}
