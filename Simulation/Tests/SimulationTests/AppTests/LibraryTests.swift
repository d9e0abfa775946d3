import Dispatch
import RunLoopKitSimulation
import Testing

/// A library that calls back on a queue of its own.
func readOldLibrary() async -> Int {
    await withCheckedContinuation { waiter in
        DispatchQueue.global().async { waiter.resume(returning: 42) }
    }
}

@Test(.fails) func theLibraryAnswers() async throws {
    try await simulate(seeds: 1_000) { simulation in
        let number = await readOldLibrary()
        try simulation.require(number == 42, "it answers with 42")
    }
}
