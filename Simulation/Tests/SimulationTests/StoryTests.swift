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

    private func failure(
        seeds: Int = 1, _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
    ) async throws -> RunLoop.Simulation.Failure {
        try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: seeds) { simulation in
                    simulation.awaitThreadsOutside(for: 10)
                    try await body(simulation)
                }
            })
    }

    /// Of one run, without a search for a shorter one.
    private func failureAtOnce(
        _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
    ) async throws -> RunLoop.Simulation.Failure {
        try #require(await #expect(throws: RunLoop.Simulation.Failure.self) { try await replay([], body) })
    }

    @Test("A story says what is cancelled, by which task and where, what is thrown, and how each task ends")
    func ends() async throws {
        let failure = try await failure { simulation in
            let sleeper = Task { try await Task.sleep(for: .seconds(100)) }
            try await Task.sleep(for: .seconds(1))
            sleeper.cancel()
            sleeper.cancel()
            _ = await sleeper.result
            await Task { _ = try? refuse() }.value
            _ = await Task { try refuse() }.result
            try simulation.require(false, "this fails")
        }
        #expect(failure.isRepeatable, "\(failure)")
        let story = failure.story.joined(separator: "\n")
        #expect(
            story.contains(/1\.0 seconds task 1 cancels task 2, at SimulationTests\/StoryTests\.swift:\d+\n/),
            "\(story)")
        #expect(
            story.contains(
                "1.0 seconds task 2 throws CancellationError\n1.0 seconds task 2 ends with CancellationError\n"),
            "\(story)")
        #expect(failure.story.count { $0.contains("cancels task 2") } == 1, "\(story)")
        let refused = /task (\d) throws Refusal\.full, at SimulationTests\/StoryTests\.swift:\d+\n1\.0 seconds task \1/
        #expect(story.matches(of: refused).count == 2, "\(story)")
        #expect(story.contains("1.0 seconds task 3 returns\n"), "\(story)")
        #expect(story.contains("1.0 seconds task 4 ends with Refusal.full\n"), "\(story)")
    }

    @Test("What a group cancels is in the story of each child")
    func groups() async throws {
        let failure = try await failure { simulation in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 { group.addTask { try? await Task.sleep(for: .seconds(100)) } }
                await Task.yield()
                group.cancelAll()
            }
            try? await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try? await Task.sleep(for: .seconds(100)) }
                group.addTask { throw CancellationError() }
                try await group.next()
            }
            try simulation.require(false, "this fails")
        }
        let story = failure.story.joined(separator: "\n")
        #expect(story.contains(/task 1 cancels a group, at SimulationTests\/StoryTests\.swift:\d+\n/), "\(story)")
        for child in [2, 3, 4] {
            #expect(failure.story.count { $0.hasSuffix("task 1 has cancelled task \(child)") } == 1, "\(story)")
        }
    }

    @Test("A standstill begins with what has waited longest, and names actors, also of tasks that began on one")
    func longest() async throws {
        let failure = try await failure { simulation in
            let counter = Counter()
            kept.withLock { $0.append(counter) }
            await counter.begin()
            try await Task.sleep(for: .seconds(1))
            let last = Task { @MainActor in await counter.wait() }
            _ = Task { @MainActor in
                try await Task.sleep(for: .seconds(1))
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
            await last.value
        }
        let found = try #require(failure.error as? RunLoop.Simulation.Standstill)
        try #require(found.tasks.count == 4, "\(found)")
        let waits = [
            "awaits a continuation in closure #1 in Counter.begin, .* since 0.0 seconds",
            "awaits task \\d in .* since 1.0 seconds",
            "awaits a continuation in actor Counter.wait, SimulationTests/StoryTests.swift:\\d+ since 1.0 seconds",
            "awaits a continuation in .*, SimulationTests/StoryTests.swift:\\d+, on the main actor, since 2.0 seconds",
        ]
        for (task, wait) in zip(found.tasks, waits) { #expect(try task.contains(Regex(wait)), "\(found)") }
        #expect(failure.story.contains { $0.hasSuffix("actor Counter runs on") }, "\(failure)")
    }

    @Test("A child that is awaited has waited since it came to its own await")
    func child() async throws {
        let failure = try await failure { _ in
            async let child: Void = {
                try? await Task.sleep(for: .seconds(2))
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }()
            await child
        }
        let found = try #require(failure.error as? RunLoop.Simulation.Standstill)
        #expect(found.tasks.count == 2 && found.tasks.first?.hasSuffix(" since 0.0 seconds") == true, "\(found)")
        #expect(found.tasks.last?.contains(/^Task 2 awaits a continuation .* since 2\.0 seconds$/) == true, "\(found)")
    }

    @Test("A task that ends before the one that made it goes on has one end in the story")
    func endsAtOnce() async throws {
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 1000) { simulation in
                    let hasEnded = Guarded(false)
                    _ = Task { hasEnded.withLock { $0 = true } }
                    let hasGoneFirst = hasEnded.withLock { $0 }
                    try await Task.sleep(for: .seconds(1))
                    try simulation.require(!hasGoneFirst, "the task has not ended before")
                }
            })
        #expect(failure.story.count { $0.hasSuffix("task 2 returns") } == 1, "\(failure)")
    }

    @Test("So has a task that ends on an actor, after a function elsewhere")
    func endsOnActor() async throws {
        let failure = try await failure { simulation in
            let counter = Counter()
            await counter.beginToCount()
            for _ in 0..<3 { try await Task.sleep(for: .seconds(1)) }
            try simulation.require(await !counter.hasCounted, "this fails")
        }
        #expect(failure.story.count { $0.hasSuffix("task 2 returns") } == 1, "\(failure)")
    }

    @Test("A wait for threads outside, in vain, is no time of the runs")
    func patience() async throws {
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 1) { simulation in
                    simulation.awaitThreadsOutside(for: 5000)
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
            })
        #expect(failure.error is RunLoop.Simulation.Standstill)
        #expect(try #require(failure.report).duration < .seconds(4), "\(failure)")
    }

    @Test("What happens again and again is one line, with its count, and what happens between is there")
    func folded() async throws {
        let failure = try await failure { simulation in
            let ticker = Task { while true { try await Task.sleep(for: .seconds(1)) } }
            try await Task.sleep(for: .milliseconds(500_500))
            simulation.note("in the middle")
            try await Task.sleep(for: .milliseconds(6000_500))
            ticker.cancel()
            try simulation.require(false, "this fails")
        }
        let folds = failure.story.filter { $0.hasSuffix(" times") }
        #expect(folds.count == 2 && failure.story.count < 40, "\(failure)")
        #expect(
            folds.first?.contains(/^\d\.0 to \d+\.0 seconds task 2 runs .*StoryTests\.swift:\d+, 49\d times$/) == true)
        #expect(folds.last?.contains(/^\d+\.0 to \d+\.0 seconds task 2 runs .*, 5,99\d times$/) == true, "\(folds)")
        #expect(failure.story.contains("500.5 seconds task 1 notes: in the middle"), "\(failure)")
    }

    /// A client waits for a server that never answers, beside a ticker.
    private static let waitBesideTicker: @Sendable (RunLoop.Simulation, Duration?) async -> Void = {
        simulation, limit in
        _ = Task { while true { try await Task.sleep(for: .seconds(1)) } }
        let counter = Counter()
        kept.withLock { $0.append(counter) }
        let client = Task { await counter.wait() }
        await simulation.awaiting("the answer", atMost: limit) { await client.value }
    }

    @Test("With a limit, a wait beside a ticker is a standstill, which names those that wait and not the ticker")
    func limit() async throws {
        let failure = try await failure { await Self.waitBesideTicker($0, .seconds(60)) }
        let found = try #require(failure.error as? RunLoop.Simulation.Standstill, "\(failure)")
        #expect("\(found)".contains("not come: the answer: SimulationTests/StoryTests.swift:"), "\(found)")
        #expect("\(found)".contains(", for 60.0 seconds."), "\(found)")
        #expect(found.tasks.count == 2 && found.tasks[1].contains("in actor Counter.wait"), "\(found)")
        #expect(failure.isRepeatable && failure.story.last?.hasPrefix("60.0 seconds task 2") == true, "\(failure)")
    }

    @Test("Without a limit it is one when there were too many steps, if the body had none in the last half of them")
    func others() async throws {
        let failure = try await failure { simulation in
            simulation.mostSteps = 10_000
            await Self.waitBesideTicker(simulation, nil)
        }
        let found = try #require(failure.error as? RunLoop.Simulation.Standstill, "\(failure)")
        #expect("\(found)".contains("Others go on again and again"), "\(found)")
        #expect(found.tasks.count == 2 && found.tasks[1].contains("in actor Counter.wait"), "\(found)")
        #expect(failure.isRepeatable, "\(failure)")
        let goesRound = try await self.failure { simulation in
            simulation.mostSteps = 10_000
            await Task { while true { try? await Task.sleep(for: .seconds(1)) } }.value
        }
        #expect(goesRound.error is RunLoop.Simulation.Livelock, "\(goesRound)")
        let isServed = try await failureAtOnce { simulation in
            simulation.mostSteps = 10_000
            let waiting = Guarded<UnsafeContinuation<Void, Never>?>(nil)
            _ = Task {
                while true {
                    try await Task.sleep(for: .seconds(1))
                    waiting.withLock { waiter in
                        defer { waiter = nil }
                        return waiter
                    }?.resume()
                }
            }
            while true { await withUnsafeContinuation { waiter in waiting.withLock { $0 = waiter } } }
        }
        #expect(isServed.error is RunLoop.Simulation.Livelock, "\(isServed)")
        let sleeps = try await failureAtOnce { simulation in
            simulation.mostSteps = 10_000
            _ = Task { while true { try await Task.sleep(for: .seconds(1)) } }
            await Task { try? await Task.sleep(for: .seconds(1_000_000)) }.value
        }
        #expect(sleeps.error is RunLoop.Simulation.Livelock, "\(sleeps)")
    }

    @Test(
        "Of those that go on again and again, none is among those that wait, however many steps there are",
        arguments: 0..<6)
    func ready(more: Int) async throws {
        let failure = try await failureAtOnce { simulation in
            simulation.mostSteps = 2_000 + more
            let counter = Counter()
            kept.withLock { $0.append(counter) }
            for _ in 0..<2 { _ = Task { while true { await Task.yield() } } }
            await counter.wait()
        }
        let found = try #require(failure.error as? RunLoop.Simulation.Standstill, "\(failure)")
        #expect(found.tasks.count == 1 && found.tasks[0].contains("in actor Counter.wait"), "\(found)")
    }

    @Test("A ticker that ends a wait at the last moment is right, and so is an answer just within its limit")
    func inTime() async throws {
        try await simulate(seeds: 50) { simulation in
            let counter = Counter()
            kept.withLock { $0.append(counter) }
            let ticker = Task {
                for _ in 0..<60 { try await Task.sleep(for: .seconds(1)) }
                await counter.resume()
                while true { try await Task.sleep(for: .seconds(1)) }
            }
            await simulation.awaiting("the ticker", atMost: .seconds(60)) { await counter.wait() }
            try await Task.sleep(for: .seconds(100))
            ticker.cancel()
            _ = await ticker.result
        }
    }
}

private enum Refusal: Error { case full }

private func refuse() throws { throw Refusal.full }

/// What a task waits for for ever is kept: a search for leaks shall find none.
private let kept = Guarded<[Counter]>([])

actor Counter {
    private var waiters: [UnsafeContinuation<Void, Never>] = []
    private(set) var hasCounted = false

    func wait() async {
        if hasCounted { return }
        await withUnsafeContinuation { waiters.append($0) }
    }

    func beginToCount() {
        Task {
            await goElsewhere()
            hasCounted = true
        }
    }

    private nonisolated func goElsewhere() async { await Task.yield() }

    func begin() { Task { await withUnsafeContinuation { waiters.append($0) } } }

    func resume() {
        hasCounted = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}
