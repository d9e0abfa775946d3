import RunLoopKit
import RunLoopKitSimulation
import Testing

/// What a run leaves for the next.
private final class Runs: Sendable {
    private let count = Guarded(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

@Suite struct DifferenceTests {
    private func difference(
        _ body: @escaping @Sendable (RunLoop.Simulation, Int) async throws -> Void
    ) async throws -> String {
        let runs = Runs()
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 1, from: 3) { simulation in
                    try await body(simulation, runs.next())
                    try simulation.require(false, "this fails")
                }
            })
        #expect(!failure.isRepeatable && failure.story.isEmpty, "\(failure)")
        let text = try #require(failure.firstDifference, "\(failure)")
        #expect("\(failure)".contains(text), "\(failure)")
        return text
    }

    @Test(
        "A run that is not repeated says at which choice: in which step, when, where, and what there was to choose from"
    )
    func choice() async throws {
        let text = try await difference { _, run in
            try await Task.sleep(for: .seconds(1))
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<(run == 1 ? 2 : 3) { group.addTask { await Task.yield() } }
            }
        }
        let pattern =
            /The first choice that differed is number \d+, in step [1-9]\d*, at 1\.0 seconds, by task 1, at SimulationTests\/DifferenceTests\.swift:\d+\./
        #expect(text.contains(pattern), "\(text)")
        #expect(
            text.contains(/The second run had task 1, task 2(, the end of a yield|, task \d)*, and took [^.]*\./),
            "\(text)")
        #expect(text.contains(/The first run had \d ways, and took number \d\.$|no choice more/), "\(text)")
    }

    @Test("Tasks are numbered in the order in which they began, also where nobody has asked before")
    func numbers() async throws {
        let text = try await difference { _, run in
            await Task {
                try? await Task.sleep(for: .seconds(1))
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<(run == 1 ? 2 : 3) { group.addTask { await Task.yield() } }
                }
            }.value
        }
        #expect(text.contains(" by task 2, at "), "\(text)")
    }

    @Test("What the first run had to choose from has names, if a later run comes there again")
    func names() async throws {
        let text = try await difference { _, run in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<(run % 2 == 1 ? 2 : 3) { group.addTask { await Task.yield() } }
            }
        }
        #expect(text.contains(/The first run had [^.]*task [^.]*, and took [^.]*\.$/), "\(text)")
    }

    @Test("With the same choices, it is what was noted, or how it ended")
    func lines() async throws {
        let noted = try await difference { simulation, run in simulation.note("run \(run)") }
        #expect(
            noted.hasSuffix("the first run noted “0.0 seconds run 1”, and the second “0.0 seconds run 2”."), "\(noted)")
        let runs = Runs()
        let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await simulate(seeds: 1) { simulation in try simulation.require(runs.next() > 1, "this fails once") }
        }
        #expect(
            failure?.firstDifference?.hasSuffix("the second run ended otherwise: it passed.") == true,
            "\(failure as Any)")
    }
}
