import RunLoopKitSimulation
import Testing

/// Answers once a second.
actor Server {
    private var clients: [CheckedContinuation<Int, Never>] = []
    private var isStopping = false

    func ask() async -> Int {
        await withCheckedContinuation { clients.append($0) }
    }

    func run() async throws {
        while true {
            try await Task.sleep(for: .seconds(1))
            if isStopping { continue }
            for client in clients { client.resume(returning: 42) }
            clients = []
        }
    }

    func stop() { isStopping = true }
}

@Test(.fails) func clientsAreAnswered() async throws {
    try await simulate(seeds: 1_000) { simulation in
        let server = Server()
        let running = Task { try await server.run() }
        let client = Task { await server.ask() }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<2000)))
        await server.stop()
        await simulation.awaiting("an answer", atMost: .seconds(60)) {
            _ = await client.value
        }
        running.cancel()
    }
}
