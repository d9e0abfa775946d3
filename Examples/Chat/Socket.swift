#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A TCP socket that never blocks. Its opener closes it, after invalidating the sources that watch it.
struct Socket {
    let descriptor: CInt

    /// A socket that listens. Port 0 lets the kernel choose one.
    static func listening(on port: UInt16, everywhere: Bool) throws(SystemError) -> Socket {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #elseif canImport(Musl)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        if descriptor < 0 { throw SystemError("socket") }
        let socket = Socket(descriptor: descriptor)
        do throws(SystemError) {
            try socket.configure()
            try socket.listen(on: port, everywhere: everywhere)
        } catch {
            socket.close()
            throw error
        }
        return socket
    }

    /// No call blocks, and child processes do not inherit the socket.
    private func configure() throws(SystemError) {
        let isDone = fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 && fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        if !isDone { throw SystemError("fcntl") }
    }

    private func listen(on port: UInt16, everywhere: Bool) throws(SystemError) {
        // A restarted server can reuse its port while connections of its predecessor linger.
        var yes: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(everywhere ? 0 : 0x7F00_0001).bigEndian
        let isBound = address.withPointer { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
        if !isBound { throw SystemError("bind") }
        if startListening(descriptor, SOMAXCONN) != 0 { throw SystemError("listen") }
    }

    /// The port of a listening socket.
    func port() throws(SystemError) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        if address.withPointer({ getsockname(descriptor, $0, &size) }) != 0 { throw SystemError("getsockname") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// The next waiting connection, or `nil` if there is none (its client may have left meanwhile).
    func accept() throws(SystemError) -> Socket? {
        let accepted = acceptConnection(descriptor)
        if accepted < 0 {
            let nobody = [EAGAIN, EINTR, ECONNABORTED, EPROTO]
            if nobody.contains(errno) { return nil }
            throw SystemError("accept")
        }
        let client = Socket(descriptor: accepted)
        try client.configure()
        return client
    }

    /// The bytes that have arrived: `nil` if there are none yet, and `[]` at the end.
    func read(upTo limit: Int = 16_384) throws(SystemError) -> [UInt8]? {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
            count = recv(descriptor, buffer.baseAddress, limit, 0)
            initialized = max(0, count)
        }
        if count >= 0 { return bytes }
        if errno == EAGAIN || errno == EINTR { return nil }
        throw SystemError("recv")
    }

    /// Sends as much as the kernel accepts, and returns the number of bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        // Without the flag, writing to a peer that is gone raises SIGPIPE and ends the program. With it, the call gives EPIPE.
        let count = send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        throw SystemError("send")
    }

    /// Sends so little that the kernel accepts it at once.
    func writeAll(_ text: String) throws {
        _ = try Array(text.utf8).withUnsafeBytes(write)
    }

    func close() { closeDescriptor(descriptor) }
}

// Global functions, because the methods of those names would hide the system calls.
private func closeDescriptor(_ descriptor: CInt) { _ = close(descriptor) }
private func startListening(_ descriptor: CInt, _ backlog: CInt) -> CInt { listen(descriptor, backlog) }
private func acceptConnection(_ descriptor: CInt) -> CInt { accept(descriptor, nil, nil) }

extension sockaddr_in {
    fileprivate mutating func withPointer<Result>(_ body: (UnsafeMutablePointer<sockaddr>) -> Result) -> Result {
        withUnsafeMutablePointer(to: &self) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }
}
