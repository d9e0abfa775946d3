import Glibc
import RunLoopKit
import Testing

@testable import RunLoopKitSimulation

private let firstWays = Guarded<[Int]>([])

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

    @Test("Of a hundred calls at once, no more run than are admitted, and all of them run")
    func calls() async throws {
        let inside = Guarded((now: 0, most: 0, count: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await simulate(seeds: 20) { _ in
                        inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.count + 1) }
                        for _ in 0..<50 { await Task.yield() }
                        inside.withLock { $0.now -= 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(inside.withLock { $0.most } <= Admission.shared.most)
        #expect(inside.withLock { $0.count } == 2000)
    }

    @Test("The search for a shorter way to a trap leaves descriptors for others")
    func search() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 200, rlim_max: 200)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            // Whatever is left out, it traps, but at another line: each of a hundred tries would leave a thread with a loop.
            let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 1) { simulation in
                    let ways = (0..<200).map { _ in simulation.choose(4) }
                    let wanted = firstWays.withLock { first in
                        if first.isEmpty { first = ways }
                        return first
                    }
                    precondition(ways != wanted, "as in the first run")
                    fatalError("not as in the first run")
                }
            }
            #expect(failure?.error is RunLoop.Simulation.Trap)
            try await simulate(seeds: 10) { simulation in _ = try simulation.makeLoop("another") }
        }
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
