import RunLoopKit
import RunLoopKitSimulation
import RunLoopKitSimulationTesting
import XCTest

import class RunLoopKit.RunLoop

final class TestCaseTests: SimulationTestCase {
    // Each seed is a run in virtual time.
    func testEverySeed() async throws {
        let runs = Guarded(0)
        try await simulate(seeds: 20) { _ in
            let begin = ContinuousClock.now
            try await Task.sleep(for: .seconds(3600))
            XCTAssertEqual(ContinuousClock.now - begin, .seconds(3600))
            runs.withLock { $0 += 1 }
        }
        XCTAssertEqual(runs.withLock { $0 }, 20)
    }

    // An assertion that does not hold in a run fails that, once, with its place and a story.
    func testAssertion() async throws {
        let body: @Sendable (RunLoop.Simulation) async throws -> Void = { _ in
            let order = Guarded("")
            await withTaskGroup(of: Void.self) { group in
                for letter in ["a", "b"] { group.addTask { order.withLock { $0 += letter } } }
            }
            XCTAssertEqual(order.withLock { $0 }, "ab")
        }
        do {
            try await simulate(seeds: 1000, body)
            XCTFail("It fails under some seed.")
        } catch let failure as RunLoop.Simulation.Failure {
            let text = "\(failure)"
            XCTAssert(failure.isRepeatable && text.contains("ba"), text)
            XCTAssert(text.contains("SimulationTests/TestCaseTests.swift:"), text)
            do {
                try await replay(failure.journal, body)
                XCTFail("It fails again.")
            } catch let again as RunLoop.Simulation.Failure {
                XCTAssertEqual(again.story, failure.story)
            }
        }
    }

    // Each run has its own assertions, also if several are beside each other.
    func testAssertionsOfSeveralRuns() async throws {
        var found: [UInt64?] = []
        for jobs in [1, 3] {
            do {
                try await simulate(seeds: 1000, jobs: jobs) { _ in
                    try await Task.sleep(for: .seconds(1))
                    XCTAssertNotEqual(Int.random(in: 0..<100), 0)
                }
                XCTFail("It fails under some seed.")
            } catch let failure as RunLoop.Simulation.Failure {
                found.append(failure.seed)
            }
        }
        XCTAssertEqual(found[0], found[1])
        XCTAssertNotEqual(found[0], 0)
    }

    // A trap fails its run, and the process and other runs go on.
    func testTrap() async throws {
        do {
            try await simulate(seeds: 3) { _ in _ = [1][Int.random(in: 1...1)] }
            XCTFail("It comes to a trap.")
        } catch let failure as RunLoop.Simulation.Failure {
            XCTAssert(failure.error is RunLoop.Simulation.Trap && failure.isRepeatable, "\(failure)")
        }
        try await simulate(seeds: 3) { _ in try await Task.sleep(for: .seconds(1)) }
    }
}
