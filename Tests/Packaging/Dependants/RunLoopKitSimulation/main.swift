import RunLoopKit
import RunLoopKitSimulation

do {
    try await simulate(seeds: 3) { simulation in
        let start = simulation.loop.clock.now
        try await simulation.loop.clock.sleep(for: .seconds(3600))
        try simulation.require(simulation.loop.clock.now - start == .seconds(3600), "an hour passes at once")
    }
    print("simulated")
} catch {
    fatalError("\(error)")
}
