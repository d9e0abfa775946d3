import RunLoopKit
import RunLoopKitSimulation
import Testing

@Suite struct StoryTests {
    @Test("Times are decimals that a person reads, in what is noted, in the story and of those that wait")
    func times() async throws {
        let sleeps: [(Duration, String)] = [
            (.milliseconds(10_826_779), "10826.779"), (.microseconds(20), "10826.77902"),
            (.nanoseconds(1), "10826.77902"),
            (.seconds(1) - .microseconds(779_020), "10827.0"),
        ]
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 1) { simulation in
                    simulation.awaitThreadsOutside(for: 50)
                    for (sleep, _) in sleeps {
                        try await Task.sleep(for: sleep)
                        simulation.note("awake")
                    }
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
            })
        #expect(failure.lines == sleeps.map { "\($0.1) seconds awake" }, "\(failure)")
        #expect(failure.story.contains("10826.779 seconds task 1 notes: awake"), "\(failure)")
        let found = try #require(failure.error as? RunLoop.Simulation.Standstill)
        #expect(found.tasks.count == 1 && found.tasks[0].hasSuffix("since 10827.0 seconds"), "\(found)")
    }
}
