import RunLoopKit
import RunLoopKitSimulation
import RunLoopKitSimulationTesting
import Testing

/// Several runs of one body at a time.
@Suite struct JobsTests {
    @TaskLocal private static var local = 0

    /// Fails under some seeds, by what it draws.
    @Sendable private static func body(_ simulation: RunLoop.Simulation) async throws {
        try await Task.sleep(for: .milliseconds(Int.random(in: 1...5)))
        try simulation.require(Int.random(in: 0..<200) != 0, "the number is not drawn")
    }

    private func failure(jobs: Int, from first: UInt64) async throws -> RunLoop.Simulation.Failure? {
        do {
            try await simulate(seeds: 2000, from: first, jobs: jobs, Self.body)
            return nil
        } catch let failure as RunLoop.Simulation.Failure {
            return failure
        }
    }

    @Test("The smallest seed that fails is found, as by one thread alone, with the same journal", arguments: [2, 3, 8])
    func smallest(jobs: Int) async throws {
        var first: UInt64 = 0
        for _ in 0..<3 {
            let alone = try #require(try await failure(jobs: 1, from: first))
            let shared = try #require(try await failure(jobs: jobs, from: first))
            #expect(alone.seed == shared.seed)
            #expect(alone.journal == shared.journal)
            #expect(shared.isRepeatable)
            #expect(alone.report.map { UInt64($0.runs) } == alone.seed.map { $0 - first + 1 })
            first = try #require(alone.seed) + 1
        }
    }

    @Test("Of several that fail at a time, the smallest counts, and not the last")
    func first() async throws {
        for _ in 0..<20 {
            let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 100, from: 5, jobs: 8) { simulation in
                    try simulation.require(false, "this fails")
                }
            }
            #expect(failure?.seed == 5)
        }
    }

    @Test(
        "Each seed is tried once, and runs are beside each other, with the locals of the caller", arguments: [1, 2, 5])
    func once(jobs: Int) async throws {
        let (drawn, together) = (Guarded<[Int]>([]), Guarded((now: 0, most: 0)))
        let report = try await Self.$local.withValue(7) {
            try await simulate(seeds: 300, jobs: jobs) { simulation in
                #expect(Self.local == 7)
                together.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                try await Task.sleep(for: .seconds(1))
                together.withLock { $0.now -= 1 }
                let number = Int.random(in: 0..<1000)
                drawn.withLock { $0.append(number) }
            }
        }
        #expect(report.runs == 300)
        #expect(together.withLock { $0.most } <= jobs)
        // Those of seeds 0 to 299, in the order in which they came.
        let alone = Guarded<[Int]>([])
        try await simulate(seeds: 300) { _ in
            try await Task.sleep(for: .seconds(1))
            let number = Int.random(in: 0..<1000)
            alone.withLock { $0.append(number) }
        }
        #expect(drawn.withLock { $0.sorted() } == alone.withLock { $0.sorted() })
    }

    @Test("Without seeds nothing runs, and with jobs below one there is one", arguments: [0, -1, 3])
    func few(jobs: Int) async throws {
        #expect(try await simulate(seeds: 0, jobs: jobs) { _ in }.runs == 0)
        #expect(try await simulate(seeds: 2, jobs: jobs) { _ in }.runs == 2)
    }

    @Test("A test with the trait, on the main actor of each run", .simulated(seeds: 200, jobs: 3))
    @MainActor func trait() async throws {
        let begin = ContinuousClock.now
        MainActor.assertIsolated()
        try await Task.sleep(for: .seconds(3600))
        #expect(ContinuousClock.now - begin == .seconds(3600))
    }

    @Test("A trap of one run ends neither the process nor the search of the others")
    func traps() async throws {
        var found: [UInt64?] = []
        for jobs in [1, 3] {
            let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 1000, from: 100, jobs: jobs) { _ in
                    if Int.random(in: 0..<20) == 0 { fatalError("drawn") }
                }
            }
            found.append(failure?.seed)
        }
        #expect(found[0] == found[1])
    }
}
