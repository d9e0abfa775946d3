import Foundation
import RunLoopKitSimulation
import RunLoopKitSimulationTesting
import Testing

@Test("Beside Foundation, Simulation is RunLoopKit's, and the test needs no other import", .simulated(seeds: 3))
func besideFoundation() async throws {
    let simulation: Simulation = try #require(Simulation.current)
    let begin = Date()
    try await Task.sleep(for: .seconds(3600))
    simulation.note("an hour later")
    #expect(Date().timeIntervalSince(begin) == 3600)
}
