import Glibc
import RunLoopKit
import RunLoopKitSimulation
import Testing

/// What comes after the end of a body.
@Suite struct EndTests {
    @Test("What is under way then notes nothing any more")
    func notes() async throws {
        let runs = Guarded<[RunLoop.Simulation]>([])
        try await simulate(seeds: 300) { simulation in
            runs.withLock { $0.append(simulation) }
            _ = Task {
                simulation.loop.wakeUp()
                simulation.note("on its way")
            }
            await Task.yield()
            simulation.note("the end")
        }
        let lines = runs.withLock { $0.map(\.lines) }
        #expect(lines.contains { $0.count == 1 } && lines.contains { $0.count == 2 })
        #expect(lines.allSatisfy { $0.last == "0.0 seconds the end" }, "\(lines)")
    }

    @Test("A task of a run that stood still never goes on, whoever resumes it")
    func resumed() async throws {
        let (waiting, hasGoneOn) = (Guarded<[UnsafeContinuation<Void, Never>]>([]), Guarded(0))
        for isOnMainActor in [false, true] {
            await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 1) { simulation in
                    simulation.awaitThreadsOutside(for: 10)
                    let task =
                        isOnMainActor
                        ? Task { @MainActor in
                            await withUnsafeContinuation { waiter in waiting.withLock { $0.append(waiter) } }
                            hasGoneOn.withLock { $0 += 1 }
                        }
                        : Task {
                            await withUnsafeContinuation { waiter in waiting.withLock { $0.append(waiter) } }
                            hasGoneOn.withLock { $0 += 1 }
                        }
                    await task.value
                }
            }
        }
        #expect(waiting.withLock { $0.count } > 2)
        for waiter in waiting.withLock({ $0 }) { waiter.resume() }
        // It would be before these.
        await MainActor.run {}
        try await Task.sleep(for: .milliseconds(50))
        #expect(hasGoneOn.withLock { $0 } == 0)
    }

    @Test("A task that is older than a run is not the run's, which resumes it")
    func older() async throws {
        let waiting = Guarded<UnsafeContinuation<Bool, Never>?>(nil)
        let task = Task {
            let answer = await withUnsafeContinuation { waiter in waiting.withLock { $0 = waiter } }
            return answer && RunLoop.Simulation.current == nil
        }
        while waiting.withLock({ $0 == nil }) { try await Task.sleep(for: .milliseconds(1)) }
        try await simulate(seeds: 1) { simulation in
            waiting.withLock { $0 }?.resume(returning: true)
            try await Task.sleep(for: .seconds(1))
        }
        #expect(await task.value)
    }

    @Test("Of several traps the first one counts")
    func traps() async throws {
        let orders = Guarded<[String]>([])
        var found: Set<String> = []
        for journal in (0..<32).map({ bits in (0..<5).map { bits >> $0 & 1 } }) {
            let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await replay(journal) { simulation in
                    orders.withLock { $0 = [] }
                    _ = Task {
                        simulation.loop.wakeUp()
                        end("one", orders)
                    }
                    simulation.loop.wakeUp()
                    end("the other", orders)
                }
            }
            let order = orders.withLock { $0 }
            #expect((failure?.error as? RunLoop.Simulation.Trap)?.what == "Fatal error: \(order[0])")
            found.insert(order.joined(separator: ", "))
        }
        #expect(found.count > 2, "\(found)")
    }
}

private func end(_ name: String, _ order: Guarded<[String]>) {
    order.withLock { $0.append(name) }
    fatalError(name)
}
