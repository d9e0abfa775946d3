import RunLoopKit
import RunLoopKitSimulation
import Testing

private let kept = Guarded<[UnsafeContinuation<Void, Never>]>([])

@Suite struct SimulationTests {
    @Test("The same seed gives the same run, line by line, and other seeds give others")
    func determinism() async throws {
        let runs = Guarded<[[String]]>([])
        for seed: UInt64 in [7, 7, 7, 8] {
            try await simulate(seeds: 1, from: seed) { simulation in
                simulation.greatestDelay = .milliseconds(100)
                let loops = [try simulation.makeLoop("a"), try simulation.makeLoop("b")]
                for (i, loop) in loops.enumerated() { loop.perform { simulation.note("loop \(i)") } }
                await withTaskGroup(of: Void.self) { group in
                    for i in 0..<6 {
                        group.addTask {
                            try? await simulation.clock.sleep(for: .seconds(i % 2 + 1))
                            simulation.note("\(i)")
                        }
                    }
                }
                runs.withLock { $0.append(simulation.lines) }
            }
        }
        let all = runs.withLock { $0 }
        #expect(all[0].count == 8)
        #expect(all[0] == all[1] && all[1] == all[2])
        #expect(all[0] != all[3])
    }

    @Test("An hour passes at once")
    func hour() async throws {
        try await simulate(seeds: 1) { simulation in
            let start = simulation.clock.now
            try await simulation.clock.sleep(for: .seconds(3600))
            try simulation.require(simulation.clock.now - start == .seconds(3600), "an hour has passed")
        }
    }

    @Test("A body that waits for nothing fails, and says what is in the loops")
    func standstill() async throws {
        let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await simulate(seeds: 1) { simulation in
                _ = try simulation.makeLoop("other")
                simulation.note("before")
                await withUnsafeContinuation { waiter in kept.withLock { $0.append(waiter) } }
            }
        }
        #expect(failure?.error is RunLoop.Simulation.Standstill)
        #expect("\(failure!)".contains("never comes"))
        #expect(failure?.lines.last?.hasSuffix("before") == true)
    }

    @Test("A failure's journal is short, and repeats it")
    func journal() async throws {
        let body: @Sendable (RunLoop.Simulation) async throws -> Void = { simulation in
            for _ in 0..<50 { _ = simulation.choose(10) }
            let isUnlucky = simulation.choose(20) == 13
            for _ in 0..<50 { _ = simulation.choose(10) }
            try simulation.require(!isUnlucky, "the seed is a lucky one")
        }
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) { try await simulate(seeds: 1000, body) })
        #expect(failure.journal.filter { $0 != 0 } == [13])
        let repeated = await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await replay(failure.journal, body)
        }
        #expect(repeated?.journal == failure.journal)
        try await replay([], body)
    }

    @Test(
        "Each planted bug is found within a thousand seeds, and its repair stands a hundred",
        arguments: PlantedBug.all)
    func catalogue(bug: PlantedBug) async throws {
        let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await simulate(seeds: 1000) { try await bug.program($0, false) }
        }
        try await simulate(seeds: 100) { try await bug.program($0, true) }
        if let failure {
            let repeated = await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await replay(failure.journal) { try await bug.program($0, false) }
            }
            #expect(repeated?.lines == failure.lines)
        }
    }
}
