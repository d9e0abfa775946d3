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
}
