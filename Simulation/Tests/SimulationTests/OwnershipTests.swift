import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitSimulation
import Testing

// Programs that know nothing of simulations.

@MainActor private final class Model {
    private(set) var texts: [String] = []

    func add(_ text: String) {
        MainActor.assertIsolated()
        texts.append(text)
    }
}

/// Performs the latest of the actions that were asked for in a row, when there has been none for a second.
private actor Debouncer {
    private var task: Task<Void, Never>?

    func call(_ action: @escaping @Sendable () async -> Void) {
        task?.cancel()
        task = Task {
            try? await Task.sleep(for: .seconds(1))
            if !Task.isCancelled { await action() }
        }
    }
}

/// Tries again with pauses that double, and some dice, as every client does.
private func retrying<Value>(_ attempt: () async throws -> Value) async throws -> Value {
    var pause = Duration.milliseconds(100)
    for _ in 0..<5 {
        do {
            return try await attempt()
        } catch {
            try await Task.sleep(for: pause + .milliseconds(Int.random(in: 0..<50)))
            pause *= 2
        }
    }
    return try await attempt()
}

private struct Refused: Error {}

@Suite struct OwnershipTests {
    @Test("Tasks, detached tasks, actors, the main actor and their sleeps belong to the simulation, and time is exact")
    func everything() async throws {
        try await simulate(seeds: 200) { simulation in
            let begin = (ContinuousClock.now, SuspendingClock.now)
            let model = Model()
            async let child: Void = model.add("child")
            let task = Task {
                try await Task.sleep(for: .seconds(3600))
                await model.add("task")
                return 42
            }
            let detached = Task.detached {
                try await ContinuousClock().sleep(for: .seconds(1800))
                await model.add("detached")
            }
            try simulation.require(try await task.value == 42, "the value comes")
            try await detached.value
            await child
            let texts = await model.texts
            try simulation.require(texts == ["child", "detached", "task"], "they come in time: \(texts)")
            try simulation.require(ContinuousClock.now - begin.0 == .seconds(3600), "an hour is an hour")
            try simulation.require(SuspendingClock.now - begin.1 == .seconds(3600), "by any clock")
        }
    }

    @Test("RunLoop.main is the simulation's: its call-outs are the main actor's, whose jobs it performs, not in jobs")
    func mainLoop() async throws {
        try await simulate(seeds: 200) { simulation in
            try simulation.require(RunLoop.main == simulation.loop, "it has a main loop")
            let model = Model()
            let timer = RunLoop.Timer(
                after: .seconds(1),
                RunLoop.onMainActor { _ in
                    Task {
                        model.add("task on \(RunLoop.main.isCurrent ? "main" : "another thread")")
                    }
                    // What a call-out runs performs the jobs of the main actor, what a job runs does not.
                    RunLoop.main.run(mode: .default, until: { !model.texts.isEmpty }, deadline: nil)
                    model.add("timer")
                })
            try RunLoop.main.add(timer, forMode: .common)
            try await Task.sleep(for: .seconds(2))
            await Task { @MainActor in
                Task { model.add("job") }
                runMainLoop(for: .seconds(1))
                model.add("nested run")
            }.value
            try await Task.sleep(for: .seconds(1))
            let texts = await model.texts
            try simulation.require(
                texts == ["task on main", "timer", "nested run", "job"], "they come in this order: \(texts)")
        }
        #expect(RunLoop.Simulation.current == nil && !RunLoop.main.isCurrent)
    }

    @Test("A run inside a closure that the main loop performs serves the main actor, whatever came with the closure")
    func runInClosureOfMainLoop() async throws {
        try await simulate(seeds: 200) { simulation in
            let model = Model()
            RunLoop.main.perform(
                RunLoop.onMainActor {
                    RunLoop.main.run(mode: .default, until: { !model.texts.isEmpty }, deadline: nil)
                    model.add("closure")
                })
            await Task { @MainActor in model.add("job") }.value
            try await Task.sleep(for: .seconds(1))
            try simulation.require(await model.texts == ["job", "closure"], "the run ends by the job")
        }
    }

    @Test("A correct debouncer performs the last action under every seed")
    func debouncer() async throws {
        try await simulate(seeds: 200) { simulation in
            let (debouncer, performed) = (Debouncer(), Guarded<[Int]>([]))
            for i in 0..<5 {
                await debouncer.call { performed.withLock { $0.append(i) } }
                try await Task.sleep(for: .milliseconds(300))
            }
            try await Task.sleep(for: .seconds(2))
            try simulation.require(performed.withLock { $0 } == [4], "only the last one counts")
        }
    }

    @Test("A call that would block a thread is made in the simulation, in its time")
    func blockingCalls() async throws {
        try await simulate(seeds: 50) { simulation in
            async let value = RunLoop.runBlocking { 42 }
            try await Task.sleep(for: .seconds(3600))
            try simulation.require(try await value == 42, "the value comes")
        }
    }

    @Test("A body that is simulated once returns its value, and throws its error")
    func once() async throws {
        let slept = try await withSimulation { _ in
            let begin = ContinuousClock.now
            try await Task.sleep(for: .seconds(86400))
            return ContinuousClock.now - begin
        }
        #expect(slept == .seconds(86400))
        let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await withSimulation { _ in throw Refused() }
        }
        #expect(failure?.error is Refused)
    }

    @TaskLocal private static var place = "nowhere"

    @Test("A body has the task-local values of its caller, and so do its tasks")
    func taskLocals() async throws {
        try await Self.$place.withValue("here") {
            try await simulate(seeds: 10) { simulation in
                let inner = await Task { Self.place }.value
                try simulation.require(Self.place == "here" && inner == "here", "it is \(Self.place) and \(inner)")
            }
        }
    }

    @Test("Equal sleeps end in every order, and not before their instant")
    func equalSleeps() async throws {
        let orders = Guarded<Set<[Int]>>([])
        try await simulate(seeds: 100) { simulation in
            let order = Guarded<[Int]>([])
            let begin = ContinuousClock.now
            await withTaskGroup(of: Void.self) { group in
                for i in 0..<3 {
                    group.addTask {
                        try? await Task.sleep(for: .milliseconds(10))
                        order.withLock { $0.append(i) }
                    }
                }
            }
            try simulation.require(ContinuousClock.now - begin == .milliseconds(10), "a sleep is as long as it should")
            orders.withLock { orders in order.withLock { _ = orders.insert($0) } }
        }
        #expect(orders.withLock { $0.count } == 6)
    }

    @Test("Random numbers are the seed's, and a journal repeats them")
    func dice() async throws {
        let seen = Guarded<[[Int]]>([])
        let body: @Sendable (RunLoop.Simulation) async throws -> Void = { simulation in
            let attempts = Guarded(0)
            var pauses: [Int] = []
            var last = ContinuousClock.now
            try? await retrying {
                pauses.append(Int((ContinuousClock.now - last) / .milliseconds(1)))
                last = .now
                attempts.withLock { $0 += 1 }
                throw Refused()
            }
            seen.withLock { $0.append(pauses) }
            try simulation.require(false, "it fails")
        }
        let failures = Guarded<[RunLoop.Simulation.Failure]>([])
        for seed: UInt64 in [1, 1, 2] {
            let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 1, from: seed, body)
            }
            failures.withLock { $0.append(failure!) }
        }
        #expect(failures.withLock { $0.allSatisfy(\.isRepeatable) })
        let all = seen.withLock { $0 }
        #expect(all[0].count == 6 && all[0] == all[1])
        #expect(Set(all).count > 1)
        let runs = seen.withLock { $0.count }
        await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await replay(failures.withLock { $0[0].journal }, body)
        }
        // The last run of the search is the shortest one that was found, or one that was tried after it.
        #expect(seen.withLock { $0.prefix(runs).contains($0[runs]) })
    }

    @Test("A task that goes round is found out, and named")
    func livelock() async throws {
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 1) { simulation in
                    simulation.mostSteps = 1000
                    await goRound()
                }
            })
        let livelock = try #require(failure.error as? RunLoop.Simulation.Livelock)
        #expect(livelock.steps > 1000)
        #expect(livelock.functions.contains { $0.contains("goRound") }, "\(livelock.functions)")
    }

    @Test("A thread outside that resumes a task is found out: the error says so, and where")
    func escape() async throws {
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 3) { simulation in
                    simulation.awaitThreadsOutside(for: 60_000)
                    await waitForThread()
                }
            })
        let escape = try #require(failure.error as? RunLoop.Simulation.Escape)
        #expect(escape.functions.contains { $0.contains("waitForThread") }, "\(escape.functions)")
        #expect(!failure.isRepeatable)
        #expect("\(failure)".contains("has left the simulation") && !"\(failure)".contains("never comes"))
        #expect(!"\(failure)".contains("It is repeated"))
    }

    @Test("What goes another way the second time is not called repeatable")
    func unrepeatable() async throws {
        let runs = Guarded(0)
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 1) { simulation in
                    let run = runs.withLock { runs in
                        runs += 1
                        return runs
                    }
                    simulation.note("run \(run)")
                    try simulation.require(false, "it fails")
                }
            })
        #expect(!failure.isRepeatable && runs.withLock { $0 } == 2)
        #expect("\(failure)".contains("went another way"))
    }

    @Test("A shortened journal leads to the same requirement, not to another one")
    func sameFailure() async throws {
        let body: @Sendable (RunLoop.Simulation) async throws -> Void = { simulation in
            let (first, second) = (simulation.choose(4), simulation.choose(4))
            try simulation.require(first != 3 || second != 3, "they are not both three")
            try simulation.require(second == 0 || first == 3, "the second is nought")
        }
        var requirements: Set<String> = []
        for seed: UInt64 in 0..<200 {
            guard let failure = await failure(of: seed, body) else { continue }
            let unmet = try #require(failure.error as? RunLoop.Simulation.UnmetRequirement)
            requirements.insert(unmet.what)
            let both = failure.journal.suffix(2)
            #expect(unmet.what == "they are not both three" ? both == [3, 3] : both.last != 0, "\(failure)")
        }
        #expect(requirements.count == 2)
    }

    private func failure(
        of seed: UInt64, _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
    ) async -> RunLoop.Simulation.Failure? {
        do {
            try await simulate(seeds: 1, from: seed, body)
            return nil
        } catch {
            return error as? RunLoop.Simulation.Failure
        }
    }

    @Test("Beside simulations, the tasks of the process are real, on time and on the main actor")
    func outside() async throws {
        async let simulations = simulate(seeds: 50) { _ in try await Task.sleep(for: .seconds(3600)) }
        let begin = ContinuousClock.now
        try await Task.sleep(for: .milliseconds(20))
        #expect(ContinuousClock.now - begin >= .milliseconds(20))
        await MainActor.run { MainActor.assertIsolated() }
        #expect(await Task.detached { 7 }.value == 7)
        _ = try await simulations
    }

    @Test("A link belongs to what adopts it")
    func adoptedLink() async throws {
        try await simulate(seeds: 20) { simulation in
            let (near, far) = try simulation.makeStreamLink()
            let client = try RunLoop.Connection(adopting: near, on: simulation.loop)
            let server = try RunLoop.Connection(adopting: far, on: simulation.loop)
            try await client.writer.write("ping\n")
            let line = try await server.makeReader().line()
            try simulation.require(line == "ping", "a line arrives: \(String(describing: line))")
        }
    }
}

@MainActor private func runMainLoop(for duration: Duration) { RunLoop.main.run(mode: .default, for: duration) }

private func goRound() async { while true { await Task.yield() } }

private func waitForThread() async {
    await withUnsafeContinuation { (waiter: UnsafeContinuation<Void, Never>) in
        do {
            let thread = try RunLoop.Thread()
            // Later than the task waits: one that is resumed before that just goes on. By the thread's own clock, which is the machine's.
            thread.loop.perform {
                thread.loop.perform(after: .milliseconds(300)) {
                    waiter.resume()
                    thread.stop()
                }
            }
        } catch {
            waiter.resume()
        }
    }
}
