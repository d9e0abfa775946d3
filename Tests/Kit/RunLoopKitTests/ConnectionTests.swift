import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitTesting
import Testing

@Suite struct ConnectionTests {
    @Test("A connection of a Unix socket knows its peer's user and process, and one of TCP does not")
    func peers() async throws {
        let thread = try RunLoop.Thread()
        let path = "/tmp/runloop-peer-\(getpid())"
        for address in [RunLoop.Listener.Address.unix(path), .tcp(port: 0)] {
            let listener = try RunLoop.Listener(address, on: thread.loop)
            let client = try RunLoop.Connection(adopting: connect(to: listener), on: thread.loop)
            let peer = try client.peer
            #expect(peer?.process == (address == .unix(path) ? getpid() : nil))
            #expect(peer?.user == (address == .unix(path) ? geteuid() : nil))
            #expect(try client.peer?.processDescriptor == peer?.processDescriptor)
            if let process = peer?.processDescriptor { #expect(fcntl(process, F_GETFD) & FD_CLOEXEC != 0) }
            client.abort()
            listener.invalidate()
        }
    }

    @Test("The descriptor of its peer is closed with a connection")
    func peerDescriptor() async throws {
        // Where no other test takes the number.
        await #expect(processExitsWith: .success) {
            let thread = try RunLoop.Thread()
            let (one, other) = try makeSocketPair()
            func makePeer() throws -> (CInt, String)? {
                let connection = try RunLoop.Connection(adopting: one, on: thread.loop)
                return try connection.peer?.processDescriptor.map { ($0, fileName(of: $0)) }
            }
            // Something else may have the number after that.
            if let (number, name) = try makePeer() { #expect(try await eventually { fileName(of: number) != name }) }
            close(other)
        }
    }

    @Test("Tasks serve the connections of a listener, of each family, and close them in order")
    func serving() async throws {
        let thread = try RunLoop.Thread()
        let path = "/tmp/runloop-connection-\(getpid())"
        for address in [
            RunLoop.Listener.Address.tcp(port: 0), .unix(path), .abstract("runloop-connection-\(getpid())"),
        ] {
            let listener = try RunLoop.Listener(address, on: thread.loop)
            let serving = Task {
                for try await connection in listener.connections {
                    Task {
                        let reader = connection.makeReader()
                        for try await line in reader.lines() { try await connection.writer.write("\(line)!\n") }
                        try await connection.writer.write("bye\n")
                        try await connection.close()
                    }
                }
            }
            for number in 0..<20 {
                let client = try RunLoop.Connection(adopting: connect(to: listener), on: thread.loop)
                let reader = client.makeReader()
                try await client.writer.write("hello \(number)\n")
                #expect(try await reader.line() == "hello \(number)!")
                try await client.writer.finish()
                #expect(try await reader.line() == "bye")
                #expect(try await reader.line() == nil)
                try await client.close()
            }
            #expect(listener.port.map { $0 > 0 } == (listener.address.hasPrefix("127.0.0.1:") ? true : nil))
            listener.invalidate()
            try await serving.value
            // Another socket may have the number of the one that was closed.
            let other = try RunLoop.Listener(.tcp(port: 0), on: thread.loop)
            #expect(listener.address == "" && listener.port == nil)
            other.invalidate()
        }
        #expect(access(path, F_OK) == -1)
    }

    @Test("A closure serves the connections on the loop's thread, and they have addresses")
    func handler() async throws {
        let thread = try RunLoop.Thread()
        let listener = try RunLoop.Listener(.tcp(port: 0), on: thread.loop)
        let taken = Handed<RunLoop.Connection>()
        let loop = thread.loop
        try listener.accept { connection in
            #expect(loop.isCurrent)
            taken.put(connection)
        }
        let client = try RunLoop.Connection(adopting: connect(to: listener), on: thread.loop)
        let connection = try await withRunLoopThread { try #require(taken.take()) }
        taken.clear()
        #expect(connection.localAddress == listener.address)
        #expect(connection.peerAddress == client.localAddress)
        #expect(client.peerAddress == listener.address)
        #expect(client.fileDescriptor != connection.fileDescriptor)
        connection.abort()
        connection.abort()
        #expect(try await client.makeReader().line() == nil)
        await #expect(throws: RunLoop.Error.invalid) { try await connection.writer.write("x") }
    }

    @Test("Connections of a socket from elsewhere send without delay")
    func withoutDelay() async throws {
        let thread = try RunLoop.Thread()
        let listening = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        try #require(listen(listening, 5) == 0)
        let listener = try RunLoop.Listener(.adopting(listening), on: thread.loop)
        let client = try connect(to: listener)
        for try await connection in listener.connections {
            var (isSet, size): (CInt, socklen_t) = (0, 4)
            getsockopt(connection.fileDescriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &isSet, &size)
            #expect(isSet != 0)
            break
        }
        close(client)
    }

    @Test("Connections that nobody takes wait in the kernel, and a cancelled wait takes none")
    func waiting() async throws {
        let thread = try RunLoop.Thread()
        let listener = try RunLoop.Listener(.tcp(port: 0), on: thread.loop)
        let cancelled = Task { () -> Bool in
            for try await _ in listener.connections { return true }
            return false
        }
        cancelled.cancel()
        #expect(try await cancelled.value == false)
        let first = try connect(to: listener)
        let second = try connect(to: listener)
        var taken = 0
        for try await connection in listener.connections {
            #expect(connection.writer.isValid)
            taken += 1
            if taken == 2 { break }
        }
        close(first)
        close(second)
        thread.stop()
        await thread.join()
        for try await _ in listener.connections { Issue.record("after the end of the loop") }
        let late = try RunLoop.Listener(.tcp(port: 0), on: thread.loop)
        for _ in 1...2 { #expect(throws: RunLoop.Error.loopFinished) { try late.accept { _ in } } }
    }

    @Test("An error of one wait for a connection is not thrown by another one")
    func listenerError() async throws {
        let thread = try RunLoop.Thread()
        let listening = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(listen(listening, 5) == 0)
        let listener = try RunLoop.Listener(.adopting(listening), on: thread.loop)
        // A file can't be watched. It has the number of the socket for a while.
        let (kept, file) = (dup(listening), open("/proc/self/exe", O_RDONLY | O_CLOEXEC))
        #expect(dup2(file, listening) == listening)
        var iterator = listener.connections.makeAsyncIterator()
        await #expect(throws: RunLoop.Error.permissionDenied) { try await iterator.next(isolation: nil) }
        #expect(dup2(kept, listening) == listening)
        for descriptor in [kept, file] { close(descriptor) }
        let cancelled = Task {
            var connections = 0
            for try await _ in listener.connections { connections += 1 }
            return connections
        }
        cancelled.cancel()
        #expect(try await cancelled.value == 0)
        let next = Task {
            for try await _ in listener.connections { return true }
            return false
        }
        listener.invalidate()
        #expect(try await !next.value)
    }

    @Test("What can't be listened on says why")
    func errors() async throws {
        let thread = try RunLoop.Thread()
        let listener = try RunLoop.Listener(.tcp(port: 0), on: thread.loop)
        let port = try #require(listener.port)
        #expect(throws: RunLoop.Error.addressInUse) { try RunLoop.Listener(.tcp(port: port), on: thread.loop) }
        #expect(throws: RunLoop.Error.invalidAddress) {
            try RunLoop.Listener(.tcp("localhost", port: 0), on: thread.loop)
        }
        for address in [
            RunLoop.Listener.Address.tcp("127.0.0.1\0", port: 0), .unix("/tmp/runloop-\(getpid())\0"),
            .abstract("a\0b"),
        ] {
            #expect(throws: RunLoop.Error.invalidAddress) { try RunLoop.Listener(address, on: thread.loop) }
        }
        #expect(throws: RunLoop.Error.addressNotAvailable) {
            try RunLoop.Listener(.tcp("192.0.2.1", port: 0), on: thread.loop)
        }
        #expect(throws: RunLoop.Error.badDescriptor) { try RunLoop.Listener(.adopting(-1), on: thread.loop) }
        #expect(try RunLoop.Listener.takeInheritedSockets().isEmpty)
    }

    @Test("A connection ends when it has been idle for the limit, not before, and every wait ends")
    func idle() async throws {
        let (one, other) = try makeSocketPair()
        let outcome = Guarded<RunLoop.Error?>(nil)
        try await withVirtualTime { loop, time in
            let options = RunLoop.Connection.Options(idleLimit: .seconds(60), mode: .default)
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: options)
            for _ in 0..<5 {
                time.advance(by: .seconds(50))
                #expect(connection.writer.isValid)
                // Output counts, whoever takes it, and it is written by this thread.
                #expect(try connection.writer.enqueue("x"))
                time.advance(by: .zero)
                #expect(readByte(other))
            }
            time.advance(by: .seconds(59))
            #expect(connection.writer.isValid)
            time.advance(by: .seconds(9))
            #expect(!connection.writer.isValid)
            do {
                _ = try connection.writer.enqueue("x")
            } catch {
                outcome.withLock { $0 = error as? RunLoop.Error }
            }
        }
        #expect(outcome.withLock { $0 } == .timedOut)
        #expect(!readByte(other))
        close(other)
    }

    @Test("Input counts as well, and a task that waits for it gets the error of the idle limit")
    func idleReader() async throws {
        let (one, other) = try makeSocketPair()
        let (bytes, outcome) = (Count(), Guarded<RunLoop.Error?>(nil))
        try await withVirtualTime { loop, time in
            let options = RunLoop.Connection.Options(idleLimit: .seconds(60), mode: .default)
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: options)
            let reader = connection.makeReader()
            Task(executorPreference: loop.taskExecutor) {
                do {
                    while try await reader.byte(isolation: nil) != nil { bytes.increment() }
                } catch {
                    outcome.withLock { $0 = error as? RunLoop.Error }
                }
            }
            for count in 1...5 {
                time.advance(by: .seconds(50))
                try #require(connection.writer.isValid)
                writeByte(other)
                time.advance(by: .zero)
                #expect(bytes.value == count)
            }
            time.advance(by: .seconds(59))
            #expect(connection.writer.isValid)
            #expect(outcome.withLock { $0 } == nil)
            time.advance(by: .seconds(9))
            #expect(!connection.writer.isValid)
        }
        #expect(outcome.withLock { $0 } == .timedOut)
        close(other)
    }

    @Test("What has arrived counts, read or not, and a reader that no task waits for cuts nobody off")
    func pausedReader() async throws {
        try await withVirtualTime { loop, time in
            let options = RunLoop.Connection.Options(idleLimit: .seconds(60), mode: .default)
            let (one, other) = try makeSocketPair()
            let (two, peer) = try makeSocketPair()
            // Without a reader there is nobody who could pause.
            let unread = try RunLoop.Connection(adopting: one, on: loop, options: options)
            let paused = try RunLoop.Connection(adopting: two, on: loop, options: options)
            let reader = paused.makeReader()
            writeByte(other)
            for _ in 0..<10 { time.advance(by: .seconds(50)) }
            #expect(unread.writer.isValid)
            #expect(paused.writer.isValid)
            // Its limit counts from here on.
            let outcome = Guarded<RunLoop.Error?>(nil)
            Task(executorPreference: loop.taskExecutor) {
                do {
                    _ = try await reader.byte(isolation: nil)
                } catch {
                    outcome.withLock { $0 = error as? RunLoop.Error }
                }
            }
            time.advance(by: .zero)
            time.advance(by: .seconds(59))
            #expect(paused.writer.isValid)
            time.advance(by: .seconds(9))
            #expect(!paused.writer.isValid)
            time.advance(by: .zero)
            #expect(outcome.withLock { $0 } == .timedOut)
            close(other)
            close(peer)
        }
    }

    @Test(
        "A peer that does not take the output is cut off, though nobody reads what it sends", arguments: [true, false])
    func stuckOutput(hasReader: Bool) async throws {
        try await withVirtualTime { loop, time in
            let options = RunLoop.Connection.Options(idleLimit: .seconds(60), outputLimit: 10_000_000, mode: .default)
            let (one, other) = try makeSocketPair()
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: options)
            let reader = hasReader ? connection.makeReader() : nil
            writeByte(other)
            #expect(try connection.writer.enqueue([UInt8](repeating: 1, count: 5_000_000)))
            time.advance(by: .seconds(59))
            #expect(connection.writer.isValid)
            time.advance(by: .seconds(70))
            #expect(!connection.writer.isValid)
            withExtendedLifetime(reader) {}
            close(other)
        }
    }

    @Test("A line that has begun is complete within the message limit, or the connection ends, whatever drips in")
    func slowLine() async throws {
        let outcome = Guarded<RunLoop.Error?>(nil)
        let lines = Count()
        try await withVirtualTime { loop, time in
            let options = RunLoop.Connection.Options(messageLimit: .seconds(80), mode: .default)
            let (one, other) = try makeSocketPair()
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: options)
            countLines(of: connection, on: loop, lines, outcome)
            func put(_ text: String) {
                for byte in text.utf8 { writeByte(other, byte) }
                time.advance(by: .zero)
                time.advance(by: .zero)
            }
            // Silence has no limit, and each line has the whole one.
            time.advance(by: .seconds(900))
            for count in 1...3 {
                put("a")
                time.advance(by: .seconds(79))
                put("b\n")
                #expect(lines.value == count)
            }
            time.advance(by: .seconds(900))
            #expect(connection.writer.isValid)
            put("a")
            for _ in 0..<3 {
                time.advance(by: .seconds(26))
                put("b")
            }
            #expect(connection.writer.isValid)
            time.advance(by: .seconds(13))
            #expect(!connection.writer.isValid)
            time.advance(by: .zero)
            close(other)
        }
        #expect(outcome.withLock { $0 } == .timedOut)
        #expect(lines.value == 3)
    }

    @Test("A socket is closed when nobody has the connection, its reader or its writer any more")
    func lifetime() async throws {
        let thread = try RunLoop.Thread()
        let (one, other) = try makeSocketPair()
        // The connection is freed at once, and its writer after its last use.
        func write() async throws -> Int {
            let writer = try RunLoop.Connection(adopting: one, on: thread.loop).writer
            return try await writer.write("last") + writer.write(" words")
        }
        #expect(try await write() == 10)
        // Other tests may have its number by now, so its peer tells.
        var text: [UInt8] = []
        for try await chunk in thread.loop.chunks(of: other) { text += chunk }
        #expect(text == Array("last words".utf8))
        close(other)
    }
}

/// What the system calls the file of a descriptor.
private func fileName(of number: CInt) -> String {
    var name = [CChar](repeating: 0, count: 200)
    let count = readlink("/proc/self/fd/\(number)", &name, name.count)
    return String(decoding: name.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// A client's socket.
private func connect(to listener: RunLoop.Listener) throws -> CInt {
    let address = listener.address
    let client: CInt
    if let port = listener.port {
        client = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var internet = sockaddr_in()
        internet.sin_family = sa_family_t(AF_INET)
        internet.sin_port = port.bigEndian
        internet.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        try #require(connected(client, &internet, MemoryLayout<sockaddr_in>.size))
    } else {
        client = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var local = sockaddr_un()
        local.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = address.hasPrefix("@")
        let name = isAbstract ? [0] + address.utf8.dropFirst() : Array(address.utf8)
        withUnsafeMutableBytes(of: &local.sun_path) { $0.copyBytes(from: name) }
        try #require(connected(client, &local, 2 + name.count + (isAbstract ? 0 : 1)))
    }
    _ = fcntl(client, F_SETFL, O_NONBLOCK)
    return client
}

private func connected<Address>(_ client: CInt, _ address: UnsafeMutablePointer<Address>, _ size: Int) -> Bool {
    address.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(client, $0, socklen_t(size)) == 0 }
}
