#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file descriptor. Its opener closes it, after invalidating the sources that watch it.
struct Descriptor: Hashable, Sendable {
    let number: CInt

    /// Both ends of a pipe; child processes do not inherit them.
    static func makePipe() throws(Mishap) -> (output: Descriptor, input: Descriptor) {
        var ends: [CInt] = [-1, -1]
        if pipe(&ends) != 0 { throw Mishap(system: "pipe") }
        let (output, input) = (Descriptor(number: ends[0]), Descriptor(number: ends[1]))
        try output.keepFromChildren()
        try input.keepFromChildren()
        return (output, input)
    }

    /// A TCP socket that never blocks.
    static func makeSocket() throws(Mishap) -> Descriptor {
        #if canImport(Glibc)
        let number = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #elseif canImport(Musl)
        let number = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        if number < 0 { throw Mishap(system: "socket") }
        let descriptor = Descriptor(number: number)
        try descriptor.keepFromChildren()
        try descriptor.stopBlocking()
        return descriptor
    }

    /// From now on, reads and writes that would have to wait fail with EAGAIN.
    func stopBlocking() throws(Mishap) {
        if fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK) != 0 { throw Mishap(system: "fcntl") }
    }

    func keepFromChildren() throws(Mishap) {
        if fcntl(number, F_SETFD, FD_CLOEXEC) != 0 { throw Mishap(system: "fcntl") }
    }

    /// The bytes that can be read now: `nil` if there are none yet, and `[]` at the end.
    func bytes(upTo limit: Int = 65_536) throws(Mishap) -> [UInt8]? {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
            count = read(number, buffer.baseAddress, limit)
            initialized = max(0, count)
        }
        if count >= 0 { return bytes }
        if errno == EAGAIN || errno == EINTR { return nil }
        throw Mishap(system: "read")
    }

    /// Writes so little that the kernel accepts it at once. A program that writes more must keep the rest, and wait with a source
    /// for `.write`.
    func put(_ bytes: [UInt8]) throws(Mishap) {
        if write(number, bytes, bytes.count) != bytes.count { throw Mishap(system: "write") }
    }

    func close() { closeDescriptor(number) }
}

/// A global function, because the method of that name would hide the system call.
private func closeDescriptor(_ number: CInt) { _ = close(number) }

extension Descriptor {
    /// Listens on the loopback. Returns the port, which the kernel chooses.
    func takeClients() throws(Mishap) -> UInt16 {
        var address = sockaddr_in.loopback(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isTaking = address.withPointer { address in
            bind(number, address, size) == 0 && listen(number, SOMAXCONN) == 0
                && getsockname(number, address, &size) == 0
        }
        if !isTaking { throw Mishap(system: "bind, listen") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// The connection to the next waiting client, if there is one.
    func nextClient() throws(Mishap) -> Descriptor? {
        let client = Descriptor(number: accept(number, nil, nil))
        if client.number < 0 {
            if errno == EAGAIN || errno == EINTR { return nil }
            throw Mishap(system: "accept")
        }
        try client.keepFromChildren()
        try client.stopBlocking()
        return client
    }

    /// Begins to connect to a port of the loopback. The socket becomes writable when that has succeeded or failed.
    func beginToConnect(to port: UInt16) throws(Mishap) {
        var address = sockaddr_in.loopback(port: port)
        let result = address.withPointer { connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        if result != 0 && errno != EINPROGRESS { throw Mishap(system: "connect") }
    }

    /// Throws if the connection failed.
    func finishConnecting() throws(Mishap) {
        var error: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        if getsockopt(number, SOL_SOCKET, SO_ERROR, &error, &size) != 0 { throw Mishap(system: "getsockopt") }
        if error != 0 { throw Mishap(system: "connect", error) }
    }
}

extension sockaddr_in {
    static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    mutating func withPointer<Result>(_ body: (UnsafeMutablePointer<sockaddr>) -> Result) -> Result {
        withUnsafeMutablePointer(to: &self) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }
}

extension Mishap {
    /// A system call that has just failed.
    init(system call: String, _ error: CInt = errno) {
        self.init("\(call): \(String(cString: strerror(error))).")
    }
}
