import RunLoopKitSimulation
import RunLoopKitSimulationTesting
import Testing
import XCTest

@Test(.simulated(seeds: 3)) func hourPassesAtOnce() async throws {
    let start = ContinuousClock.now
    try await Task.sleep(for: .seconds(3600))
    #expect(ContinuousClock.now - start == .seconds(3600))
}

final class SimulatedTests: SimulationTestCase {
    func testHourPassesAtOnce() async throws {
        try await simulate(seeds: 3) { _ in
            let start = ContinuousClock.now
            try await Task.sleep(for: .seconds(3600))
            XCTAssertEqual(ContinuousClock.now - start, .seconds(3600))
        }
    }
}
