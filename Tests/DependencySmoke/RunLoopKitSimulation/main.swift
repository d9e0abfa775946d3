import RunLoopKit
import RunLoopKitSimulation

do {
    try await simulate(seeds: 3) { simulation in
        let start = simulation.clock.now
        try await simulation.clock.sleep(for: .seconds(3600))
        try simulation.require(simulation.clock.now - start == .seconds(3600), "an hour passes at once")
    }
    print("simulated")
} catch {
    fatalError("\(error)")
}
