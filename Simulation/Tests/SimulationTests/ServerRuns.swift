import ForkedChild
import RunLoopKit
import RunLoopKitSimulation
import Testing

/// Does what `body` does. If that fails, the server stays: call-outs that are under way then refer to it.
func keeping<Server: AnyObject & Sendable, Value>(
    _ server: Server, _ body: () async throws -> Value
) async throws -> Value {
    do {
        return try await body()
    } catch {
        kept.withLock { $0.append(server) }
        throw error
    }
}

private let kept = Guarded<[any AnyObject & Sendable]>([])

/// How often a server is run under each set of faults: a few times with a sanitizer, which makes each run slow.
let serverSeeds = isUnderThreadSanitizer ? 2 : isUnderAddressSanitizer ? 10 : 60

extension Trait where Self == ConditionTrait {
    /// For tests that find a planted bug.
    static var exceptWithThreadSanitizer: Self {
        .disabled(
            if: isUnderThreadSanitizer,
            """
            The search and the shortening of what it finds take minutes of both processors with this sanitizer, while other tests wait for \
            theirs. Of races there is nothing to find that the runs of the shipped servers don't have.
            """)
    }
}

/// A bug is found within a thousand seeds; the failure has a story.
func expectToFind(
    _ what: String, _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
) async throws {
    let failure = try #require(
        await #expect(throws: RunLoop.Simulation.Failure.self) { try await simulate(seeds: 1000, body) })
    #expect(failure.isRepeatable && "\(failure.error)".contains(what) && !failure.story.isEmpty, "\(failure)")
}
