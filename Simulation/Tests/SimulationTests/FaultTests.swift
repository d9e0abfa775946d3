import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitSimulation
import Testing

/// Asks a server for a number, and again if that fails: a client that knows nothing of simulations.
private struct MendedClient {
    let connect: @Sendable () async throws -> RunLoop.Connection
    var attempts = 5

    struct NoAnswer: Error {}

    func ask() async throws -> Int {
        var pause = Duration.milliseconds(100)
        for _ in 1..<attempts {
            if let answer = try? await askOnce() { return answer }
            try await Task.sleep(for: pause)
            pause *= 2
        }
        return try await askOnce()
    }

    private func askOnce() async throws -> Int {
        let connection = try await connect()
        defer { connection.abort() }
        try await connection.writer.write("number?\n")
        // The end of a connection ends a line, too.
        guard let line = try await connection.makeReader().line(), line.hasSuffix(";"),
            let number = Int(line.dropLast())
        else { throw NoAnswer() }
        return number
    }
}

/// Answers each line; a peer that goes away ends it.
private func serveMended(_ connection: RunLoop.Connection) async {
    let reader = connection.makeReader()
    while let line = try? await reader.line() {
        if line == "number?" { _ = try? await connection.writer.write("42;\n") }
    }
    connection.abort()
}

@Suite struct FaultTests {
    @Test("A client that tries again gets its answer from a server whose connections are lost, slow and in pieces")
    func retryingClient() async throws {
        let losses = Guarded(0)
        try await simulate(seeds: 200) { simulation in
            simulation.faults = [.shortTransfers]
            let made = Guarded(0)
            let client = MendedClient(
                connect: {
                    // The last one is good.
                    let number = made.withLock { made in
                        made += 1
                        return made
                    }
                    let (near, far) = try simulation.makeConnections(lossPercentage: number < 5 ? 30 : 0)
                    Task { await serveMended(far) }
                    return near
                })
            try simulation.require(try await client.ask() == 42, "the answer comes")
            losses.withLock { $0 += made.withLock { $0 } - 1 }
        }
        #expect(losses.withLock { $0 } > 50)
    }

    @Test(
        "Descriptors run out, memory runs out and connections are refused wherever the library needs one, and it says so"
    )
    func shortages() async throws {
        let errors = Guarded<Set<String>>([])
        for faults: RunLoop.Simulation.Faults in [.descriptorsRunOut, .memoryRunsOut, .refusedConnections] {
            try await simulate(seeds: 200) { simulation in
                let listener = try RunLoop.Listener(.tcp("127.0.0.1", port: 0), on: simulation.loop)
                simulation.faults = faults
                do {
                    let connection = try await RunLoop.Connection.connect(
                        to: .tcp(port: listener.port ?? 0), on: simulation.loop)
                    connection.abort()
                } catch {
                    errors.withLock { _ = $0.insert("\(faults.rawValue): \("\(error)".filter { !$0.isNumber })") }
                }
                simulation.faults = []
                listener.invalidate()
            }
        }
        let all = errors.withLock { $0.sorted() }
        #expect(all.count == 3, "\(all)")
    }

    @Test("Each call that makes a descriptor may find that there are none left")
    func callsThatMakeDescriptors() async throws {
        let refused = Guarded<Set<String>>([])
        try await simulate(seeds: 100) { simulation in
            let listener = try RunLoop.Listener(.tcp("127.0.0.1", port: 0), on: simulation.loop)
            defer { listener.invalidate() }
            simulation.faults = [.descriptorsRunOut]
            let tcp = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            var ends: [CInt] = [-1, -1]
            let calls: [(String, CInt)] = [
                ("socket", tcp), ("dup", dup(0)), ("fcntl", fcntl(0, F_DUPFD_CLOEXEC, 0)), ("pipe", pipe(&ends)),
            ]
            for (name, result) in calls where result < 0 { refused.withLock { _ = $0.insert(name) } }
            var (isSentAtOnce, size): (CInt, socklen_t) = (0, 4)
            getsockopt(tcp, CInt(IPPROTO_TCP), TCP_NODELAY, &isSentAtOnce, &size)
            try simulation.require(tcp < 0 || isSentAtOnce != 0, "TCP holds nothing back")
            // A server that doesn't listen has nothing to accept, either.
            if tcp >= 0, accept(tcp, nil, nil) < 0, errno == EMFILE { refused.withLock { _ = $0.insert("accept") } }
            for descriptor in calls.prefix(3).map(\.1) + ends where descriptor >= 0 { close(descriptor) }
        }
        #expect(refused.withLock { $0 } == ["socket", "dup", "fcntl", "pipe", "accept"])
    }

    @Test("A stream is read and written in parts, and reset, as the seed says")
    func streams() async throws {
        let (lengths, resets) = (Guarded<Set<Int>>([]), Guarded(0))
        try await simulate(seeds: 200) { simulation in
            var ends: [CInt] = [-1, -1]
            try simulation.require(
                socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0, "there are two ends")
            defer { for end in ends { close(end) } }
            simulation.faults = [.shortTransfers, .resets]
            let written = send(ends[0], "ten bytes!", 10, 0)
            if written < 0 {
                try simulation.require(errno == ECONNRESET, "that is why")
                resets.withLock { $0 += 1 }
                try simulation.require(send(ends[0], "x", 1, CInt(MSG_NOSIGNAL)) < 0, "it stays reset")
            } else {
                lengths.withLock { _ = $0.insert(written) }
            }
        }
        #expect(lengths.withLock { $0 } == [1, 5, 10])
        #expect(resets.withLock { $0 } > 5)
    }

    @Test("A link hands every message over as it is, without a byte and with very many, and waits for space for either")
    func messageSizes() async throws {
        let sizes = [0, 1, 100_000, 0, 65_537] + [Int](repeating: 0, count: 600) + [3]
        try await simulate(seeds: 3) { simulation in
            let (near, far) = try simulation.makeMessageLink()
            defer { for end in [near, far] { close(end) } }
            let sending = Task {
                for size in sizes {
                    let message = [UInt8](repeating: 1, count: size)
                    while send(near, message, size, 0) < 0 { try await Task.sleep(for: .seconds(1)) }
                }
            }
            try await Task.sleep(for: .seconds(100))
            var (received, buffer) = ([Int](), [UInt8](repeating: 0, count: 200_000))
            for _ in 0..<2_000 where received.count < sizes.count {
                let size = recv(far, &buffer, buffer.count, 0)
                if size < 0 { try await Task.sleep(for: .seconds(1)) } else { received.append(size) }
            }
            try simulation.require(received == sizes, "\(received.count): \(received.prefix(5))")
            try await sending.value
        }
    }

    @Test("A writer to a link waits for a slow reader, which gets every byte in order")
    func backPressure() async throws {
        let all = (0..<800_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
        try await simulate(seeds: 3) { simulation in
            let (near, far) = try simulation.makeConnections()
            let hasWritten = Guarded(false)
            let writing = Task {
                try await near.writer.write(all)
                hasWritten.withLock { $0 = true }
            }
            try await Task.sleep(for: .seconds(60))
            try simulation.require(!hasWritten.withLock { $0 }, "nobody has read, so the writer waits")
            var (iterator, received) = (far.makeReader().chunks.makeAsyncIterator(), [UInt8]())
            while received.count < all.count, let chunk = try await iterator.next() { received += chunk }
            try simulation.require(received == all, "everything arrives, in order")
            try await writing.value
        }
    }

    @Test("A stream's message of several pieces is sent and received in part, in order")
    func messagesOfStreams() async throws {
        let lengths = Guarded<Set<Int>>([])
        try await simulate(seeds: 100) { simulation in
            let ends = try socketPair(SOCK_STREAM)
            defer { for end in ends { close(end) } }
            simulation.faults = [.shortTransfers]
            let sent = sendPieces(["ten ", "bytes!"], to: ends[0])
            let received = receivePieces([4, 60], from: ends[1])
            try simulation.require((1...10).contains(sent), "something was sent")
            try simulation.require(
                "ten bytes!".utf8.prefix(received.count).elementsEqual(received), "it is the beginning")
            lengths.withLock {
                _ = $0.insert(sent)
                // The end of what arrived may be left in the socket.
                if received.count < sent { _ = $0.insert(-received.count) }
            }
        }
        #expect(
            lengths.withLock { $0.isSuperset(of: [1, 2, 10]) && $0.contains { $0 < 0 } }, "\(lengths.withLock { $0 })")
    }

    @Test("A channel loses its peer, finds no memory for a message, and no number for a descriptor, and says so")
    func channels() async throws {
        let (outcomes, opened) = (Guarded<Set<String>>([]), Guarded<Set<UInt>>([]))
        for faults: RunLoop.Simulation.Faults in [.resets, .memoryRunsOut, .descriptorsRunOut] {
            try await simulate(seeds: 100) { simulation in
                let ends = try socketPair(SOCK_SEQPACKET)
                let sent = try socketPair(SOCK_STREAM)
                defer { for descriptor in sent { close(descriptor) } }
                let (near, far) = (
                    try RunLoop.Channel(adopting: ends[0], on: simulation.loop),
                    try RunLoop.Channel(adopting: ends[1], on: simulation.loop)
                )
                var status = stat()
                fstat(sent[0], &status)
                _ = opened.withLock { $0.insert(UInt(status.st_ino)) }
                simulation.faults = faults
                let outcome: String
                do {
                    try near.send("hello".utf8, descriptors: [sent[0]])
                    var iterator = far.messages.makeAsyncIterator()
                    let message = try await iterator.next()
                    try simulation.require(message == nil || message?.descriptorCount == 1, "all of it, or nothing")
                    outcome = message == nil ? "the end" : "a message"
                } catch let error as RunLoop.ChannelError {
                    outcome = "\(error)"
                }
                simulation.faults = []
                _ = outcomes.withLock { $0.insert("\(faults.rawValue): \(outcome)") }
                near.invalidate()
                far.invalidate()
            }
        }
        // Each fault is met in one way, and is not met.
        #expect(outcomes.withLock { $0.count } == 6, "\(outcomes.withLock { $0.sorted() })")
        #expect(opened.withLock { $0 }.isDisjoint(with: openInodes()), "a descriptor that was lost is closed")
    }
}

private func socketPair(_ type: __socket_type) throws -> [CInt] {
    var ends: [CInt] = [-1, -1]
    if socketpair(AF_UNIX, CInt(type.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) != 0 {
        throw RunLoop.Error(errorNumber: errno)
    }
    return ends
}

/// What the descriptors of the process are open for.
private func openInodes() -> Set<UInt> {
    var inodes: Set<UInt> = []
    for descriptor in 0..<CInt(1024) {
        var status = stat()
        if fstat(descriptor, &status) == 0 { inodes.insert(UInt(status.st_ino)) }
    }
    return inodes
}

private func sendPieces(_ pieces: [String], to socket: CInt) -> Int {
    var memory = pieces.map { Array($0.utf8) }
    return withPieces(&memory) { sendmsg(socket, &$0, CInt(MSG_NOSIGNAL)) }
}

private func receivePieces(_ sizes: [Int], from socket: CInt) -> [UInt8] {
    var memory = sizes.map { [UInt8](repeating: 0, count: $0) }
    let count = withPieces(&memory) { recvmsg(socket, &$0, 0) }
    return Array(memory.joined().prefix(max(0, count)))
}

private func withPieces(_ memory: inout [[UInt8]], _ call: (inout msghdr) -> Int) -> Int {
    var pieces = memory.map { piece in
        iovec(iov_base: UnsafeMutableRawPointer.allocate(byteCount: piece.count, alignment: 1), iov_len: piece.count)
    }
    defer { for piece in pieces { piece.iov_base.deallocate() } }
    for (piece, bytes) in zip(pieces, memory) { piece.iov_base.copyMemory(from: bytes, byteCount: bytes.count) }
    let result = pieces.withUnsafeMutableBufferPointer { pieces in
        var message = msghdr()
        message.msg_iov = pieces.baseAddress
        message.msg_iovlen = pieces.count
        return call(&message)
    }
    for (index, piece) in pieces.enumerated() {
        memory[index] = Array(UnsafeRawBufferPointer(start: piece.iov_base, count: piece.iov_len))
    }
    return result
}
