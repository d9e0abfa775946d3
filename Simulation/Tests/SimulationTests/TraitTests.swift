import Glibc
import RunLoopKit
import RunLoopKitSimulation
import RunLoopKitSimulationTesting
import Testing

/// Withdraws what is there, and doesn't look again after an await.
private actor Account {
    private(set) var balance = 100

    func withdraw(_ amount: Int) async {
        guard balance >= amount else { return }
        await Task.yield()
        balance -= amount
    }

    /// What is left when two have withdrawn.
    static func afterTwo(_ amount: Int) async -> Int {
        let account = Account()
        async let first: Void = account.withdraw(amount)
        async let second: Void = account.withdraw(amount)
        _ = await (first, second)
        return await account.balance
    }
}

private let seeds = Guarded(0)
private let isAlone = getenv("RUNLOOP_ALONE") != nil

@Suite(.serialized) struct TraitTests {
    @Test("A test with the trait is simulated under each seed", .simulated(seeds: 20))
    func everySeed() async throws {
        try #require(RunLoop.Simulation.current != nil)
        let begin = ContinuousClock.now
        try await Task.sleep(for: .seconds(3600))
        #expect(ContinuousClock.now - begin == .seconds(3600))
        #expect(Test.current?.name == "everySeed()")
        seeds.withLock { $0 += 1 }
    }

    @Test("So there were so many runs of it, and another test is in none")
    func count() {
        #expect(seeds.withLock { $0 } == 20)
        #expect(RunLoop.Simulation.current == nil)
    }

    @Test("On the main actor, too, and once for each argument", .simulated(seeds: 3), arguments: [1, 2])
    @MainActor func mainActor(number: Int) async throws {
        MainActor.assertIsolated()
        try await Task.sleep(for: .seconds(number))
        #expect(RunLoop.Simulation.current != nil)
    }

    /// What a run of `body` with `trait` throws.
    private func failure(
        _ trait: SimulationTrait, _ body: @Sendable () async throws -> Void
    ) async throws -> RunLoop.Simulation.Failure? {
        let test = try #require(Test.current)
        do {
            try await trait.provideScope(for: test, testCase: Test.Case.current, performing: body)
            return nil
        } catch {
            return try #require(error as? RunLoop.Simulation.Failure)
        }
    }

    @Test("An expectation that does not hold under a seed fails the test once, with its place and a story")
    func expectation() async throws {
        let body: @Sendable () async throws -> Void = {
            let balance = await Account.afterTwo(60)
            #expect(balance >= 0, "overdrawn")
        }
        let failure = try #require(await failure(.simulated(seeds: 1000), body))
        let text = "\(failure)"
        #expect(failure.isRepeatable && text.contains("-20") && text.contains("overdrawn"), "\(text)")
        #expect(text.contains("SimulationTests/TraitTests.swift:"), "\(text)")
        #expect(!failure.story.isEmpty && text.contains(" each."))
        let again = try #require(await self.failure(.simulated(replaying: failure.journal), body))
        #expect(again.story == failure.story)
        let none = try await self.failure(.simulated(seeds: 100)) { #expect(await Account.afterTwo(50) == 0) }
        #expect(none == nil)
    }

    @Test("Waits for what never comes, in a process of its own", .enabled(if: isAlone), .simulated(seeds: 1))
    func neverEnds() async throws {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    @Test("Comes to a trap, in a process of its own", .enabled(if: isAlone), .simulated(seeds: 20), arguments: [1, 2])
    @MainActor func traps(number: Int) async throws {
        let numbers = [number]
        try await Task.sleep(for: .seconds(1))
        _ = numbers[number]
    }

    @Test("A test that waits for what never comes, or traps, fails with its place, and the others go on")
    func standstill() throws {
        let run = "env RUNLOOP_ALONE=1 SWIFT_BACKTRACE=enable=no timeout 600 /proc/$PPID/exe"
        let folder = "/tmp/runloop-attachments-\(getpid())"
        mkdir(folder, 0o700)
        defer { system("rm -r \(folder)") }
        let filters = "--filter neverEnds --filter traps --filter everySeed --attachments-path \(folder)"
        let stream = try #require(popen("exec 2>&1; \(run) --testing-library swift-testing \(filters)", "r"))
        var (output, line) = ("", [CChar](repeating: 0, count: 1024))
        while fgets(&line, CInt(line.count), stream) != nil {
            output += String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        #expect(pclose(stream) != 0)
        #expect(output.contains("Nothing can happen any more"), "\(output)")
        let place = output.split(separator: "\n").first { $0.contains("the end of the body") }
        #expect(place?.contains("SimulationTests/TraitTests.swift:") == true, "\(output)")
        let traps = output.split(separator: "\n").filter { $0.contains("Fatal error: Index out of range") }
        #expect(traps.count { $0.contains("TraitTests.traps") } >= 2, "\(output)")
        for name in ["seed 0.txt", "seed 0-"] {
            #expect(system("ls '\(folder)' | grep -q '^\(name)'") == 0, "\(output)")
        }
        #expect(output.contains("with 3 issues") && output.firstMatch(of: /each seed" passed/) != nil, "\(output)")
    }

    @Test("Of several expectations the first one counts, and a warning ends no search")
    func several() async throws {
        let first = try await failure(.simulated(seeds: 1)) {
            #expect(await Account.afterTwo(50) == 1, "the first")
            #expect(await Account.afterTwo(50) == 2, "the second")
        }
        let unmet = try #require(first?.error as? RunLoop.Simulation.UnmetRequirement)
        #expect(unmet.what.contains("the first") && !unmet.what.contains("the second"), "\(unmet)")
        let none = try await failure(.simulated(seeds: 10)) { Issue.record("a warning", severity: .warning) }
        #expect(none == nil)
    }

    @Test("So does what a test requires, and an error it throws")
    func requirement() async throws {
        let unmet = try await failure(.simulated(seeds: 1000)) { try #require(await Account.afterTwo(60) >= 0) }
        #expect(unmet?.error is RunLoop.Simulation.UnmetRequirement)
        struct Refused: Error {}
        let refused = try await failure(.simulated()) { throw Refused() }
        #expect(refused?.error is Refused)
    }
}
