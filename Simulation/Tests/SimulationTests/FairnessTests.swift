import RunLoopKit
import RunLoopKitSimulation
import Testing

private actor Count {
    private(set) var value = 0
    func increase() { value += 1 }
}

@Suite struct FairnessTests {
    @Test("A task that asks an actor again and again, and yields, lets those go on for which it waits, under each seed")
    func yields() async throws {
        try await simulate(seeds: 300) { simulation in
            simulation.mostSteps = 50_000
            let count = Count()
            async let other: Void = { for _ in 0..<3 { await count.increase() } }()
            while await count.value < 3 { await Task.yield() }
            await other
        }
    }

    @Test("So do two tasks that do so, and a loop is served beside them")
    func loops() async throws {
        try await simulate(seeds: 300) { simulation in
            simulation.mostSteps = 50_000
            let (count, loop) = (Count(), try simulation.makeLoop("x"))
            loop.perform { Task { await count.increase() } }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 { group.addTask { while await count.value < 1 { await Task.yield() } } }
            }
        }
    }

    @Test("A thread that goes round, and never waits, has no more turns than the others need")
    func goesRound() async throws {
        try await simulate(seeds: 30) { simulation in
            let (waits, isDone) = (Waits(), Guarded(false))
            async let other: Void = {
                for _ in 0..<100 { waits.post() }
                isDone.withLock { $0 = true }
            }()
            var rounds = 0
            while !isDone.withLock({ $0 }) {
                waits.post()
                rounds += 1
            }
            await other
            try simulation.require(rounds < 5_000, "there were \(rounds)")
        }
    }

    @Test("A failure that a search of all orders finds after many choices is repeated, also by its journal")
    func search() async throws {
        let body: @Sendable (RunLoop.Simulation) async throws -> Void = { simulation in
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<2 {
                    group.addTask {
                        for _ in 0..<300 {
                            simulation.note("\(number)")
                            await Task.yield()
                        }
                    }
                }
            }
            try simulation.require(false, "this fails")
        }
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) { try await simulateAllOrders(preemptions: 0, body) }
        )
        #expect(failure.isRepeatable, "\(failure)")
        let again = await #expect(throws: RunLoop.Simulation.Failure.self) { try await replay(failure.journal, body) }
        #expect(again?.lines == failure.lines)
    }
}
