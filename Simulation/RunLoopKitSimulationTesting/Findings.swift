#if os(Linux)
internal import RunLoopKit
internal import RunLoopKitSimulation

/// What a framework for tests found in one run of a simulated test, and did not throw.
final class Findings: Sendable {
    private let first = Guarded<RunLoop.Simulation.UnmetRequirement?>(nil)

    func add(_ text: String, file: String, line: Int) {
        first.withLock { first in
            if first == nil { first = .init(failed: text, file: file, line: UInt(max(0, line))) }
        }
    }

    /// Does what `body` does, and fails if anything was found.
    func throwFirst(_ body: () async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        // What was found before an error, a requirement for instance, says more.
        if let found = first.withLock({ $0 }) { throw found }
        try result.get()
    }
}
#endif
