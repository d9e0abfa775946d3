import RunLoopKitSimulation
import Testing

/// Those that ask get the next answer, until it is closed.
actor Answers {
    private var waiters: [CheckedContinuation<Int?, Never>] = []
    private var isClosed = false

    func next() async -> Int? {
        if isClosed { return nil }
        return await withCheckedContinuation { waiters.append($0) }
    }

    func close() {
        isClosed = true
        // Those that wait have no answer.
        waiters = []
    }
}

@Test(.fails) func nobodyWaitsWhenItIsClosed() async throws {
    try await simulate(seeds: 1_000) { _ in
        let answers = Answers()
        let client = Task { await answers.next() }
        await answers.close()
        _ = await client.value
    }
}
