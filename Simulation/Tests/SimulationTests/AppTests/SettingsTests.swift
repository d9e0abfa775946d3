import RunLoopKitSimulation
import Testing

/// They are kept as long as the process is there.
actor Settings {
    static let shared = Settings()
    private var limit: Int?

    func getLimit() async throws -> Int {
        if let limit { return limit }
        try await Task.sleep(for: .seconds(1))
        limit = 3
        return 3
    }
}

@Test(.fails) func settingsAreThereAtOnce() async throws {
    struct Slow: Error {}
    try await simulate(seeds: 1_000) { _ in
        let begin = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    let limit = try await Settings.shared.getLimit()
                    for _ in 0..<limit { await Task.yield() }
                }
            }
            try await group.waitForAll()
        }
        if ContinuousClock.now - begin >= .seconds(1) { throw Slow() }
    }
}
