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
        if line == "number?" { try? await connection.writer.write("42;\n") }
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
}
