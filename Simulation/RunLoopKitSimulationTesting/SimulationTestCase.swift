#if os(Linux)
public import RunLoopKit
public import RunLoopKitSimulation
public import XCTest

// XCTest brings Foundation's.
public import class RunLoopKit.RunLoop

/// Tests of XCTest that run bodies in simulations: a subclass calls its ``simulate(seeds:from:jobs:fileID:line:_:)``, in which XCTest's
/// assertions can be used.
open class SimulationTestCase: XCTestCase {
    /// Those of each run under way.
    private let findings = Guarded<[ObjectIdentifier: Findings]>([:])

    /// Does what the function `simulate` does; and an assertion of XCTest's that does not hold fails the run, and so ends the search.
    ///
    /// - Throws: `RunLoop.Simulation.Failure`, with which the test fails.
    public func simulate(
        seeds count: Int = 100, from first: UInt64 = 0, jobs: Int = 1, fileID: StaticString = #fileID,
        line: UInt = #line, _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
    ) async throws {
        try await RunLoopKitSimulation.simulate(
            seeds: count, from: first, jobs: jobs, fileID: fileID, line: line, findingAll(in: body))
    }

    /// The same with one run, as a journal has it.
    ///
    /// - Throws: `RunLoop.Simulation.Failure`, with which the test fails.
    public func replay(
        _ journal: [Int], fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
    ) async throws {
        try await RunLoopKitSimulation.replay(journal, fileID: fileID, line: line, findingAll(in: body))
    }

    private func findingAll(
        in body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
    ) -> @Sendable (RunLoop.Simulation) async throws -> Void {
        { [findings] simulation in
            let (found, run) = (Findings(), ObjectIdentifier(simulation))
            findings.withLock { $0[run] = found }
            defer { findings.withLock { $0[run] = nil } }
            try await found.throwFirst { try await body(simulation) }
        }
    }

    /// For XCTest. It reports at its end what was found in a simulation.
    open override func recordFailure(
        withDescription description: String, inFile filePath: String, atLine lineNumber: Int, expected: Bool
    ) {
        let run = RunLoop.Simulation.current.map { ObjectIdentifier($0) }
        if let run, let found = findings.withLock({ $0[run] }) {
            let file = filePath.split(separator: "/").suffix(2).joined(separator: "/")
            found.add(description, file: file, line: lineNumber)
        } else {
            super.recordFailure(withDescription: description, inFile: filePath, atLine: lineNumber, expected: expected)
        }
    }
}
#endif
