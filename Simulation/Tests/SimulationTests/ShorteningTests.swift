import RunLoopKit
import RunLoopKitSimulation
import Testing

@Suite struct ShorteningTests {
    private typealias Body = @Sendable (RunLoop.Simulation) async throws -> Void

    /// Fails in one way if both choices are three, and in another one if only the second is. That is also what is left of the first way when a
    /// choice is taken back, and it has to be no way to it. What `one` and the other one had for failures.
    private func failures(
        _ one: @escaping Body, _ other: @escaping Body
    ) async throws -> (one: [RunLoop.Simulation.Failure], other: [RunLoop.Simulation.Failure]) {
        var found: (one: [RunLoop.Simulation.Failure], other: [RunLoop.Simulation.Failure]) = ([], [])
        for seed: UInt64 in 0..<60 {
            do {
                try await simulate(seeds: 1, from: seed) { simulation in
                    simulation.awaitThreadsOutside(for: 1)
                    let (first, second) = (simulation.choose(4), simulation.choose(4))
                    if (first, second) == (3, 3) { try await one(simulation) }
                    if (first, second) == (0, 3) { try await other(simulation) }
                }
            } catch let failure as RunLoop.Simulation.Failure {
                #expect(failure.isRepeatable, "\(failure)")
                if failure.journal.suffix(2) == [3, 3] {
                    found.one.append(failure)
                } else {
                    found.other.append(failure)
                }
            }
        }
        try #require(!found.one.isEmpty && !found.other.isEmpty)
        return found
    }

    @Test("A trap leads to the same trap, and not to one with the same words at another line")
    func traps() async throws {
        let found = try await failures({ _ in end() }, { _ in endElsewhere() })
        for failure in found.one {
            #expect((failure.error as? RunLoop.Simulation.Trap)?.place.hasPrefix("end, ") == true, "\(failure)")
        }
        for failure in found.other {
            #expect(
                (failure.error as? RunLoop.Simulation.Trap)?.place.hasPrefix("endElsewhere, ") == true, "\(failure)")
        }
    }

    @Test("A dropped continuation leads to one of the same function")
    func leaks() async throws {
        let found = try await failures({ _ in await drop() }, { _ in await dropElsewhere() })
        for failure in found.one {
            #expect((failure.error as? RunLoop.Simulation.LeakedContinuation)?.function == "drop()", "\(failure)")
        }
        for failure in found.other {
            let leak = failure.error as? RunLoop.Simulation.LeakedContinuation
            #expect(leak?.function == "dropElsewhere()", "\(failure)")
        }
    }

    @Test("A standstill leads to one that waits at the same line, and not at another one of the function")
    func lines() async throws {
        let found = try await failures({ _ in await wait(first: true) }, { _ in await wait(first: false) })
        for failures in [found.one, found.other] {
            let lines = failures.map { failure in
                (failure.error as? RunLoop.Simulation.Standstill)?.tasks.first?.firstMatch(of: /swift:\d+/)?.output
            }
            #expect(lines.first != nil && lines.allSatisfy { $0 == lines[0] }, "\(failures)")
        }
    }

    @Test("A standstill leads to one that waits at the same places")
    func standstills() async throws {
        let found = try await failures({ _ in await wait() }, { _ in await waitElsewhere() })
        for failure in found.one {
            let tasks = (failure.error as? RunLoop.Simulation.Standstill)?.tasks ?? []
            #expect(tasks.contains { $0.contains("a continuation in wait, ") }, "\(failure)")
        }
        for failure in found.other {
            let tasks = (failure.error as? RunLoop.Simulation.Standstill)?.tasks ?? []
            #expect(tasks.contains { $0.contains("a continuation in waitElsewhere, ") }, "\(failure)")
        }
    }
}

private func end() { if !Task.isCancelled { fatalError("the end") } }
private func endElsewhere() { if !Task.isCancelled { fatalError("the end") } }

private func drop() async { await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in } }
private func dropElsewhere() async { await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in } }

private func wait() async { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
private func waitElsewhere() async { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }

private func wait(first isFirst: Bool) async {
    if isFirst {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    } else {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }
}
