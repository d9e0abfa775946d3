import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitTesting
import Testing

/// A machine without /etc/hosts may not know its own name.
private let localhost: String = {
    var addresses: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo("localhost", nil, nil, &addresses) == 0 else { return "127.0.0.1" }
    freeaddrinfo(addresses)
    return "localhost"
}()

@Suite struct ConnectTests {
    typealias Connection = RunLoop.Connection

    @Test("A connection to a port, a path, an abstract name and a host talks as one that was accepted does")
    func success() async throws {
        let thread = try RunLoop.Thread()
        let (path, name) = ("/tmp/runloop-connect-\(getpid())", "runloop-connect-\(getpid())")
        for address in [RunLoop.Listener.Address.tcp(port: 0), .unix(path), .abstract(name), .tcp(port: 0)] {
            let listener = try RunLoop.Listener(address, on: thread.loop)
            let serving = Task {
                for try await connection in listener.connections {
                    let reader = connection.makeReader()
                    while let line = try await reader.line() { try await connection.writer.write("\(line)!\n") }
                    try await connection.close()
                    break
                }
            }
            let isTCP = listener.port != nil
            for target in isTCP ? [.tcp(localhost, port: listener.port ?? 0)] : [address] {
                let client = try await Connection.connect(to: target, within: generous, on: thread.loop)
                #expect(client.peerAddress == listener.address)
                try await client.writer.write("hello\n")
                let reader = client.makeReader()
                #expect(try await reader.line() == "hello!")
                try await client.writer.finish()
                #expect(try await reader.line() == nil)
                try await client.close()
            }
            try await serving.value
        }
    }

    @Test("Who refuses, and a name that is not found, is reported in words")
    func failures() async throws {
        let thread = try RunLoop.Thread()
        let port = try unusedPort()
        let number = await failure(.tcp("127.0.0.1", port: port), thread.loop)
        #expect(number == .connectionRefused)
        #expect(number?.description == "connect to 127.0.0.1:\(port): Nobody listens there.")
        let name = await failure(.tcp(localhost, port: port), thread.loop)
        #expect(name?.description.hasPrefix("connect to \(localhost):\(port)") == true)
        if localhost == "localhost" {
            #expect(name?.description.contains("127.0.0.1:\(port): Connection refused") == true)
        }
        let unknown = await failure(.tcp("no such name", port: port), thread.loop)
        #expect(unknown == .nameNotFound)
        #expect(unknown?.description.hasPrefix("connect to no such name:\(port) (") == true)
        #expect(await failure(.unix("/nowhere/at/all"), thread.loop)?.errorNumber == ENOENT)
        #expect(await failure(.abstract("runloop-nobody-\(getpid())"), thread.loop) == .connectionRefused)
    }

    @Test("What is no address, and an option out of range, is refused at once")
    func invalid() async throws {
        let thread = try RunLoop.Thread()
        for address in [
            RunLoop.Listener.Address.tcp("", port: 1), .tcp("localhost", port: 0),
            .tcp("local\0host", port: 1), .unix(""), .abstract("a\0b"), .adopting(0),
        ] {
            #expect(await failure(address, thread.loop) == .invalidAddress)
        }
        var options = Connection.SocketOptions()
        options.keepAlive = .init(idle: .seconds(40_000))
        #expect(await failure(.tcp(port: 1), thread.loop, options) == .invalidAddress)
        options = Connection.SocketOptions()
        options.localAddress = "localhost"
        #expect(await failure(.tcp(port: 1), thread.loop, options) == .invalidAddress)
        #expect(await failure(.unix(String(repeating: "x", count: 200)), thread.loop)?.errorNumber == ENAMETOOLONG)
    }

    @Test("Options of the socket are those that were asked for")
    func options() async throws {
        let thread = try RunLoop.Thread()
        let listener = try RunLoop.Listener(.tcp(port: 0), on: thread.loop)
        var options = Connection.SocketOptions()
        options.keepAlive = .init(idle: .seconds(60), interval: .milliseconds(1500), count: 3)
        options.userTimeout = .milliseconds(700)
        options.localAddress = "127.0.0.7"
        let client = try await Connection.connect(
            to: .tcp(port: listener.port ?? 0), on: thread.loop, socketOptions: options)
        #expect(client.localAddress.hasPrefix("127.0.0.7:"))
        for (name, value) in [
            (TCP_KEEPIDLE, 60), (TCP_KEEPINTVL, 2), (TCP_KEEPCNT, 3), (TCP_USER_TIMEOUT, 700), (TCP_NODELAY, 1),
        ] {
            var (found, size): (CInt, socklen_t) = (0, 4)
            getsockopt(client.fileDescriptor, CInt(IPPROTO_TCP), name, &found, &size)
            #expect(found == value)
        }
    }

    @Test("A peer that does not answer is given up at the limit, by the loop's time, and not before")
    func limit() async throws {
        let hole = try BlackHole()
        let outcome = Guarded<RunLoop.Error?>(nil)
        await withVirtualTime { loop, time in
            Task(executorPreference: loop.taskExecutor) {
                let error = await failure(.tcp(port: hole.port), loop, within: .seconds(60), mode: .default)
                outcome.withLock { $0 = error }
            }
            time.advance(by: .seconds(59))
            #expect(outcome.withLock { $0 } == nil)
            time.advance(by: .seconds(1))
            #expect(outcome.withLock { $0 } == .timedOut)
        }
        #expect(!hole.isTried)
    }

    @Test("A cancelled task leaves no socket, before it has begun and while it is under way")
    func cancellation() async throws {
        let thread = try RunLoop.Thread()
        let hole = try BlackHole()
        let loop = thread.loop
        for waits in [false, true] {
            let task = Task {
                while !waits && !Task.isCancelled { await Task.yield() }
                return try await Connection.connect(to: .tcp(port: hole.port), on: loop)
            }
            while waits && !hole.isTried { try await Task.sleep(for: .milliseconds(1)) }
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
            #expect(!hole.isTried)
        }
        thread.stop()
        await thread.join()
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Connection.connect(to: .tcp(port: hole.port), on: loop)
        }
        await #expect(throws: CancellationError.self) { _ = try await late.value }
    }

    @Test("The end of the loop's thread ends it, and so does a loop that has ended")
    func endOfLoop() async throws {
        let thread = try RunLoop.Thread()
        let hole = try BlackHole()
        let loop = thread.loop
        let task = Task { await failure(.tcp(port: hole.port), loop) }
        while !hole.isTried { try await Task.sleep(for: .milliseconds(1)) }
        thread.stop()
        await thread.join()
        #expect(await task.value == .loopFinished)
        #expect(!hole.isTried)
        #expect(await failure(.tcp(port: hole.port), loop) == .loopFinished)
    }
}

private func failure(
    _ address: RunLoop.Listener.Address, _ loop: RunLoop, _ options: RunLoop.Connection.SocketOptions = .init(),
    within limit: Duration? = nil, mode: RunLoop.Mode = .common
) async -> RunLoop.Error? {
    do {
        _ = try await RunLoop.Connection.connect(
            to: address, within: limit, on: loop, options: .init(mode: mode), socketOptions: options)
        Issue.record("connected to \(address)")
        return nil
    } catch { return error as? RunLoop.Error }
}

/// Nobody listens there.
private func unusedPort() throws -> UInt16 {
    let hole = try BlackHole()
    return hole.port
}

/// A port of this machine that does not answer, since its queue is full.
private final class BlackHole: Sendable {
    private let sockets: [CInt]
    let port: UInt16

    init() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        sockets = (0..<2).map { _ in socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }
        let (listening, client) = (sockets[0], sockets[1])
        let isMade = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listening, $0, size) == 0 && listen(listening, 0) == 0 && getsockname(listening, $0, &size) == 0
                    && Glibc.connect(client, $0, size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        try #require(isMade)
    }

    deinit { for socket in sockets { close(socket) } }

    /// Whether a socket of this process waits for an answer: the table of the network has it in the state SYN_SENT. A process that
    /// another test is starting has a copy of each descriptor until it executes its program, and keeps a socket there until then.
    var isTried: Bool {
        let waiting = TCPTable.lines.filter { $0[2] == TCPTable.address(port: port) && $0[3] == "02" }
        return waiting.contains { UInt64($0[9]).map(hasDescriptor(ofSocket:)) == true }
    }
}

private func hasDescriptor(ofSocket inode: UInt64) -> Bool {
    let most: CInt = 65_536
    return (0..<most).contains { descriptor in
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK && UInt64(status.st_ino) == inode
    }
}
