import RunLoopKit
import RunLoopKitLinux
import RunLoopKitSimulation
import RunLoopKitSimulationTesting
import Testing

struct Client: Sendable {
    let connect: @Sendable () async throws -> RunLoop.Connection

    struct NoAnswer: Error {}

    func ask() async throws -> Int {
        var pause = Duration.milliseconds(100)
        for _ in 1..<5 {
            if let answer = try? await askOnce() { return answer }
            try await Task.sleep(
                for: pause + .milliseconds(Int.random(in: 0..<50)))
            pause *= 2
        }
        return try await askOnce()
    }

    private func askOnce() async throws -> Int {
        let connection = try await connect()
        defer { connection.abort() }
        try await connection.writer.write("number?\n")
        guard let line = try await connection.makeReader().line(),
            let number = Int(line)
        else { throw NoAnswer() }
        return number
    }
}

@Sendable func serve(_ connection: RunLoop.Connection) async {
    let reader = connection.makeReader()
    while let line = try? await reader.line() {
        if line == "number?" {
            _ = try? await connection.writer.write("42\n")
        }
    }
    connection.abort()
}

@Test(.fails, .simulated(seeds: 1_000))
func clientGetsItsAnswer() async throws {
    let simulation = try #require(RunLoop.Simulation.current)
    simulation.faults = [.shortTransfers]
    let client = Client {
        let (near, far) = try simulation.makeConnections(lossPercentage: 5)
        Task { await serve(far) }
        return near
    }
    if let answer = try? await client.ask() {
        #expect(answer == 42)
    } else {
        simulation.note("five attempts have failed")
    }
}
