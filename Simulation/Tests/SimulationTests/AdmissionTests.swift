import RunLoopKit
import Testing

@testable import RunLoopKitSimulation

/// How many calls run simulations at a time.
@Suite struct AdmissionTests {
    @Test("Calls are admitted in order, so many at a time, and all of them", arguments: [1, 3])
    func order(most: Int) async throws {
        let admission = Admission(of: most)
        let (entered, inside) = (Guarded<[Int]>([]), Guarded((now: 0, most: 0)))
        let gates = (0..<10).map { _ in AsyncStream.makeStream(of: Void.self) }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<10 {
                group.addTask {
                    await admission.admit {
                        entered.withLock { $0.append(number) }
                        inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                        for await _ in gates[number].stream {}
                        inside.withLock { $0.now -= 1 }
                    }
                }
                // Each is there before the next one comes.
                while admission.calls <= number { await Task.yield() }
            }
            for number in 0..<10 {
                while entered.withLock({ $0.count }) <= number { await Task.yield() }
                #expect(entered.withLock { $0.count } <= number + most)
                gates[number].continuation.finish()
            }
        }
        #expect(entered.withLock { $0 } == Array(0..<10))
        #expect(inside.withLock { $0.most } == most)
        #expect(admission.calls == 0)
    }

    @Test("An error sets its place free")
    func errors() async {
        struct Failure: Error {}
        let admission = Admission(of: 1)
        for _ in 0..<3 {
            await #expect(throws: Failure.self) { try await admission.admit { throw Failure() } }
        }
        #expect(await admission.admit { 42 } == 42)
    }

    @Test("A call in a simulation goes on at once, and leaves that simulation")
    func nested() async throws {
        try await simulate(seeds: 1) { simulation in
            let number = await Admission(of: 0).admit { 42 }
            try simulation.require(number == 42, "it waits for nobody")
        }
        let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await simulate(seeds: 1) { _ in try await simulate(seeds: 1) { _ in } }
        }
        #expect(failure?.error is RunLoop.Simulation.Escape)
    }
}
