#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A TCP socket that never blocks. Whoever opened it closes it, after the sources that watch it were invalidated.
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

    /// No call blocks, and no child process gets it by accident.
    private func configure() throws(SystemError) {
        let isDone = fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 && fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        if !isDone { throw SystemError("fcntl") }
    }

    private func listen(on port: UInt16, everywhere: Bool) throws(SystemError) {
        // A server that is started again takes its port over from the connections of the one before.
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

    /// The port on which a listening socket is.
    func port() throws(SystemError) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        if address.withPointer({ getsockname(descriptor, $0, &size) }) != 0 { throw SystemError("getsockname") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// The next connection that waits, `nil` if there is none (any more: the client may have gone meanwhile).
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

    /// What has arrived: `nil` if nothing has yet, and no bytes (`[]`) at the end.
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

    /// Sends what the kernel has room for, and returns how much that was.
    func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        // Without the flag, writing to somebody who has gone is a SIGPIPE, and the end of the program. So it is an EPIPE.
        let count = send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        throw SystemError("send")
    }

    /// Sends so little that the kernel takes it in one go.
    func writeAll(_ text: String) throws {
        _ = try Array(text.utf8).withUnsafeBytes(write)
    }

    func close() { closeDescriptor(descriptor) }
}

// Here, because the methods have the names of the functions.
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
