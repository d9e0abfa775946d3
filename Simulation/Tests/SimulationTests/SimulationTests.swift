import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitSimulation
import Testing

/// Of each bug. Only `make test-planted-bugs` sets them: what real time shows depends on the load of the machine.
private let realRuns = getenv("RUNLOOP_TEST_REAL_RUNS").flatMap { Int(String(cString: $0)) } ?? 0
private let kept = Guarded<[UnsafeContinuation<Void, Never>]>([])

@Suite struct SimulationTests {
    @Test("The same seed gives the same run, line by line, and other seeds give others")
    func determinism() async throws {
        let runs = Guarded<[[String]]>([])
        for seed: UInt64 in [7, 7, 7, 8] {
            try await simulate(seeds: 1, from: seed) { simulation in
                simulation.greatestDelay = .milliseconds(100)
                let loops = [try simulation.makeLoop("a"), try simulation.makeLoop("b")]
                for (i, loop) in loops.enumerated() { loop.perform { simulation.note("loop \(i)") } }
                await withTaskGroup(of: Void.self) { group in
                    for i in 0..<6 {
                        group.addTask {
                            try? await simulation.loop.clock.sleep(for: .seconds(i % 2 + 1))
                            simulation.note("\(i)")
                        }
                    }
                }
                runs.withLock { $0.append(simulation.lines) }
            }
        }
        let all = runs.withLock { $0 }
        #expect(all[0].count == 8)
        #expect(all[0] == all[1] && all[1] == all[2])
        #expect(all[0] != all[3])
    }

    @Test("A loop that was made runs already, so that no other simulation decides whether the library warns of it")
    func madeLoop() async throws {
        try await simulate(seeds: 20) { simulation in
            let loop = try simulation.makeLoop("other")
            try simulation.require(loop.currentMode == .default, "it runs")
        }
    }

    @Test("An hour passes at once")
    func hour() async throws {
        try await simulate(seeds: 1) { simulation in
            let start = simulation.loop.clock.now
            try await simulation.loop.clock.sleep(for: .seconds(3600))
            try simulation.require(simulation.loop.clock.now - start == .seconds(3600), "an hour has passed")
        }
    }

    @Test("A body that waits for nothing fails, and says what is in the loops")
    func standstill() async throws {
        let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await simulate(seeds: 1) { simulation in
                _ = try simulation.makeLoop("other")
                simulation.note("before")
                await simulation.awaiting("something") {}
                await simulation.awaiting("Godot") {
                    await withUnsafeContinuation { waiter in kept.withLock { $0.append(waiter) } }
                }
            }
        }
        let standstill = try #require(failure?.error as? RunLoop.Simulation.Standstill)
        #expect(standstill.waiters.map { $0.prefix { $0 != ":" } } == ["the end of the body", "Godot"])
        #expect(standstill.waiters.allSatisfy { $0.contains(": SimulationTests/SimulationTests.swift:") })
        #expect("\(failure!)".contains("never comes"))
        #expect("\(failure!)".contains("Waiting for Godot: SimulationTests/SimulationTests.swift:"))
        #expect(failure?.lines.last?.hasSuffix("before") == true)
    }

    @Test("A failure's journal is short, and repeats it")
    func journal() async throws {
        let body: @Sendable (RunLoop.Simulation) async throws -> Void = { simulation in
            for _ in 0..<50 { _ = simulation.choose(10) }
            let isUnlucky = simulation.choose(20) == 13
            for _ in 0..<50 { _ = simulation.choose(10) }
            try simulation.require(!isUnlucky, "the seed is a lucky one")
        }
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) { try await simulate(seeds: 1000, body) })
        #expect(failure.journal.filter { $0 != 0 } == [13])
        let repeated = await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await replay(failure.journal, body)
        }
        #expect(repeated?.journal == failure.journal)
        try await replay([], body)
    }

    @Test("A spurious wake-up is an iteration without an event, and an observer sees it")
    func spuriousWakeups() async throws {
        let wakeups = Guarded<[Int]>([])
        for isAllowed in [false, true] {
            try await simulate(seeds: 20) { simulation in
                simulation.wakesSpuriously = isAllowed
                let count = Guarded(0)
                let observer = RunLoop.Observer(.afterWaiting) { _, _ in count.withLock { $0 += 1 } }
                try simulation.loop.add(observer, forMode: .common)
                let clock = simulation.loop.clock
                let start = clock.now
                try await clock.sleep(for: .seconds(1))
                try simulation.require(clock.now - start == .seconds(1), "a sleep is as long as it should")
                observer.invalidate()
                wakeups.withLock { $0.append(count.withLock { $0 }) }
            }
        }
        let all = wakeups.withLock { $0 }
        #expect(Set(all.prefix(20)).count == 1)
        #expect(all.suffix(20).max()! > all[0])
    }

    @Test("Descriptors run out where the seed says so, and nothing else changes")
    func descriptorsRunOut() async throws {
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 100) { simulation in
                    simulation.faults = .descriptorsRunOut
                    let (near, far) = try simulation.makeMessageLink()
                    close(near)
                    close(far)
                }
            })
        #expect(failure.error as? RunLoop.Error == .tooManyDescriptors)
        #expect(failure.journal.filter { $0 != 0 } == [1])
        try await simulate(seeds: 100) { simulation in
            simulation.faults = .descriptorsRunOut
            do {
                _ = try simulation.makeLoop("other")
            } catch {
                try simulation.require(error as? RunLoop.Error == .tooManyDescriptors, "that is why")
            }
        }
    }

    @Test("A sleep is not shorter than asked by a fraction of a nanosecond either, and nor is a step of the clock")
    func fractions() async throws {
        try await simulate(seeds: 1) { simulation in
            let (start, third) = (ContinuousClock.now, Duration.seconds(1.0 / 3))
            try await Task.sleep(for: third)
            try simulation.require(ContinuousClock.now - start >= third, "a sleep is not short")
            let beforeStep = ContinuousClock.now
            simulation.stepClock(by: third)
            try simulation.require(ContinuousClock.now - beforeStep >= third, "nor is a step")
        }
    }

    @Test("A step of the clock makes what was due on the way late, and due at once")
    func clockStep() async throws {
        try await simulate(seeds: 20) { simulation in
            let start = simulation.loop.clock.now
            let ticks = Guarded<[(Duration, Int)]>([])
            let timer = RunLoop.Timer(at: start + .seconds(1), every: .seconds(1)) { timer in
                let late = RunLoop.Instant.now - start
                ticks.withLock { $0.append((late, timer.missedTicks)) }
            }
            try simulation.loop.add(timer, forMode: .common)
            simulation.stepClock(by: .milliseconds(3500))
            try await simulation.loop.clock.sleep(until: start + .milliseconds(4200), tolerance: nil)
            timer.invalidate()
            let all = ticks.withLock { $0 }
            try simulation.require(all.map(\.0) == [.milliseconds(3500), .seconds(4)], "ticks come late: \(all)")
            try simulation.require(all.map(\.1) == [2, 0], "two of them were missed: \(all)")
        }
    }

    @Test("What the kernel times is due when time passes, and at once when the clock steps")
    func alarms() async throws {
        for steps in [false, true] {
            try await simulate(seeds: 20) { simulation in
                let start = ContinuousClock.now
                let fired = Guarded<Duration?>(nil)
                let alarm = try RunLoop.Alarm(at: RunLoop.WallInstant.now + .seconds(60)) { _, _ in
                    fired.withLock { $0 = ContinuousClock.now - start }
                }
                if steps {
                    simulation.stepClock(by: .seconds(90))
                    var polled = pollfd(fd: alarm.source.fileDescriptor ?? -1, events: Int16(POLLIN), revents: 0)
                    try simulation.require(poll(&polled, 1, 0) == 1, "it is due")
                }
                try simulation.loop.add(alarm.source, forMode: .common)
                try await Task.sleep(for: .seconds(100))
                alarm.source.invalidate()
                let time = fired.withLock { $0 }
                try simulation.require(time == .seconds(steps ? 90 : 60), "it is called then: \(time ?? .zero)")
            }
        }
    }

    @Test(
        "Each planted bug is found within a thousand seeds, and its repair stands a hundred",
        arguments: PlantedBug.all + PlantedBug.more)
    func catalogue(bug: PlantedBug) async throws {
        let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await simulate(seeds: 1000) { try await bug.program($0, false) }
        }
        try await simulate(seeds: 100) { try await bug.program($0, true) }
        if let failure {
            let repeated = await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await replay(failure.journal) { try await bug.program($0, false) }
            }
            #expect(repeated?.lines == failure.lines)
        }
    }

    @Test(
        "The real world hardly shows a planted bug", .enabled(if: realRuns > 0),
        arguments: PlantedBug.all + PlantedBug.more)
    func realWorld(bug: PlantedBug) async throws {
        var shown = 0
        for _ in 0..<realRuns where try await RealWorld.shows(bug) { shown += 1 }
        // A machine that stands still for tens of milliseconds is a fault of its own, and of a few runs one may meet it.
        #expect(shown <= max(realRuns / 100, 2), "\(bug) showed in \(shown) of \(realRuns) runs.")
        print("\(shown) of \(realRuns) real runs show that \(bug)")
    }
}
