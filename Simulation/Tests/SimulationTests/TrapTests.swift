import Glibc
import RunLoopKit
import RunLoopKitSimulation
import Synchronization
import Testing

private final class Record {
    var number = 0

    func change(_ other: () -> Void) { modify(&number, other) }
    private func modify(_ number: inout Int, _ other: () -> Void) { other() }
}

private func recurse(_ depth: Int) -> Int {
    var numbers = (depth, depth, depth, depth)
    return unsafe withUnsafeMutablePointer(to: &numbers) { unsafe recurse($0.pointee.0 + 1) + $0.pointee.1 }
}

/// What ends a process.
private struct End: Sendable, CustomStringConvertible {
    let description: String
    /// What is said of it.
    let words: String
    let come: @Sendable () async throws -> Void

    /// The address sanitizer has its own end for a bad address.
    static let all = isUnderAddressSanitizer ? known.filter { $0.words != "SIGSEGV" } : known

    private static let known = [
        End(description: "a precondition", words: "Precondition failed: it holds") {
            precondition(Task.isCancelled, "it holds")
        },
        End(description: "an assertion", words: "Assertion failed") { assert(Task.isCancelled) },
        End(description: "fatalError", words: "Fatal error: the end") { fatalError("the end") },
        End(description: "an overflow", words: "SIG") { _ = try await value(Int.max) + value(1) },
        End(description: "an index", words: "Fatal error: Index out of range") { _ = try await [1][value(1)] },
        End(description: "no value", words: "Fatal error: Unexpectedly found nil") {
            let number: Int? = try await value(nil)
            _ = number!
        },
        End(description: "an error", words: "Fatal error: 'try!' expression unexpectedly raised an error") {
            try! { throw CancellationError() }()
        },
        End(
            description: "a continuation that is resumed twice",
            words: "tried to resume its continuation more than once"
        ) {
            await withCheckedContinuation { waiter in
                waiter.resume()
                waiter.resume()
            }
        },
        End(description: "a conflict of accesses", words: "Fatal access conflict detected") {
            let record = Record()
            record.change { record.number += 1 }
        },
        End(description: "a bad address", words: "SIGSEGV") {
            let address: UInt = try await value(16)
            unsafe UnsafeMutablePointer<Int>(bitPattern: address)?.pointee = 1
        },
        End(description: "a call that never ends", words: "SIGSEGV") { _ = try await value(recurse(0)) },
        End(description: "abort", words: "SIGABRT") { abort() },
        End(description: "exit", words: "exit(3)") { exit(3) },
        End(description: "_exit", words: "_exit(4)") { _exit(4) },
    ]

    private static func value<Value: Sendable>(_ value: Value) async throws -> Value { value }
}

/// Its own functions are then between a trap and the program's.
let isUnderThreadSanitizer = unsafe dlsym(nil, "__tsan_init") != nil
let isUnderAddressSanitizer = unsafe dlsym(nil, "__asan_init") != nil

@Suite struct TrapTests {
    private func failure(
        seeds: Int = 100, _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
    ) async throws -> RunLoop.Simulation.Failure {
        try #require(await #expect(throws: RunLoop.Simulation.Failure.self) { try await simulate(seeds: seeds, body) })
    }

    @Test("What would end the process fails the run, with the line, a journal and a story", arguments: End.all)
    fileprivate func ends(end: End) async throws {
        let failure = try await failure { _ in
            try await Task.sleep(for: .seconds(1))
            try await Task { try await end.come() }.value
        }
        let trap = try #require(failure.error as? RunLoop.Simulation.Trap, "\(failure)")
        #expect(trap.what.contains(end.words), "\(failure)")
        let hasPlace = trap.place.contains("SimulationTests/TrapTests.swift:")
        #expect(hasPlace || isUnderThreadSanitizer || isUnderAddressSanitizer, "\(failure)")
        #expect(trap.context == "task 2", "\(failure)")
        #expect(failure.isRepeatable && failure.journal.isEmpty && failure.seed == 0, "\(failure)")
        #expect(failure.story.last?.hasPrefix("1.0 seconds task 2 comes to its end: ") == true, "\(failure)")
    }

    @Test("On the main actor, in a call-out of the main loop, and on another loop as well, and the next run is whole")
    func loops() async throws {
        let bodies: [(String, @Sendable (RunLoop.Simulation) async throws -> Void)] = [
            ("task 2", { _ in await Task { @MainActor in Self.end() }.value }),
            (
                "loop main",
                { simulation in
                    simulation.loop.perform { fatalError("the end") }
                    try await Task.sleep(for: .seconds(1))
                }
            ),
            (
                "loop x",
                { simulation in
                    let x = try simulation.makeLoop("x")
                    x.perform { fatalError("the end") }
                    try await Task.sleep(for: .seconds(1))
                }
            ),
        ]
        for (context, body) in bodies {
            let failure = try await failure(body)
            let trap = try #require(failure.error as? RunLoop.Simulation.Trap, "\(failure)")
            #expect(trap.context == context && trap.what == "Fatal error: the end", "\(failure)")
            #expect(failure.isRepeatable)
            try await withSimulation { simulation in
                let x = try simulation.makeLoop("x")
                let sum = try await x.performAndWait { 40 } + Task { @MainActor in 2 }.value
                try simulation.require(sum == 42, "everything goes on in another simulation")
            }
        }
    }

    /// Four tasks, of which one comes to a trap in one of their orders, with a lock that the others want.
    private static let inSomeOrder: @Sendable (RunLoop.Simulation) async throws -> Void = { _ in
        let order = Order()
        await withTaskGroup(of: Void.self) { group in
            for number in 1...4 {
                group.addTask {
                    await Task.yield()
                    order.add(number)
                }
            }
        }
    }

    @Test("A trap in one order is found, shortened, and repeated by its journal, under a lock that others want")
    func order() async throws {
        let failure = try await failure(seeds: 1000, Self.inSomeOrder)
        let trap = try #require(failure.error as? RunLoop.Simulation.Trap, "\(failure)")
        #expect(trap.what == "Precondition failed: not in this order")
        #expect(trap.calls.first?.hasPrefix("Order.add") == true || trap.calls.count > 1, "\(failure)")
        #expect(failure.isRepeatable && failure.seed != nil && !failure.journal.isEmpty, "\(failure)")
        let again = await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await replay(failure.journal, Self.inSomeOrder)
        }
        #expect(again?.story == failure.story)
        let searched = await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await simulateAllOrders(Self.inSomeOrder)
        }
        #expect(searched?.error is RunLoop.Simulation.Trap)
    }

    @Test("A trap after the end of the body, of what was under way, is one as well")
    func afterTheEnd() async throws {
        let failure = try await failure { simulation in
            let (loop, hasEnded) = (try simulation.makeLoop("x"), Guarded(false))
            _ = Task {
                loop.wakeUp()
                if hasEnded.withLock({ $0 }) { Self.end() }
            }
            await Task.yield()
            hasEnded.withLock { $0 = true }
        }
        #expect(failure.error is RunLoop.Simulation.Trap, "\(failure)")
    }

    private static let resumeTwice: @Sendable (RunLoop.Simulation) async throws -> Void = { _ in
        let waiting = Guarded<UnsafeContinuation<Void, Never>?>(nil)
        let task = Task { await withUnsafeContinuation { waiter in waiting.withLock { $0 = waiter } } }
        try await Task.sleep(for: .seconds(1))
        let waiter = waiting.withLock { $0 }
        waiter?.resume()
        waiter?.resume()
        await task.value
    }

    @Test("An unsafe continuation that is resumed again before its task has gone on fails the run, at that line")
    func secondResume() async throws {
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) { try await withSimulation(Self.resumeTwice) })
        let trap = try #require(failure.error as? RunLoop.Simulation.Trap, "\(failure)")
        #expect(trap.what == "an unsafe continuation of task 2 is resumed more than once", "\(failure)")
        #expect(trap.context == "task 1" && trap.place.contains("SimulationTests/TrapTests.swift:"), "\(failure)")
        #expect(failure.story.count { $0.contains("task 1 wakes task 2, to run") } == 2, "\(failure)")
        #expect(failure.story.last?.hasPrefix("1.0 seconds task 1 comes to its end: \(trap.what)") == true)
    }

    @Test("A checked continuation that is dropped fails the run, and names the function, and the task that waits")
    func leak() async throws {
        let failure = try await failure { _ in
            _ = Task { await Self.waitForEver() }
            try await Task.sleep(for: .seconds(1))
        }
        let leak = try #require(failure.error as? RunLoop.Simulation.LeakedContinuation, "\(failure)")
        #expect(leak.function == "waitForEver()", "\(failure)")
        #expect(
            leak.tasks.count == 1 && leak.tasks[0].contains("waitForEver, SimulationTests/TrapTests.swift:"),
            "\(failure)")
        #expect(failure.story.last == "0.0 seconds task 2 drops a continuation of waitForEver()", "\(failure)")
        #expect(failure.isRepeatable)
    }

    @Test("A task that waits in another function is not named for a dropped continuation")
    func leakBeside() async throws {
        let failure = try await failure { _ in
            _ = Task { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
            try await Task.sleep(for: .seconds(1))
            _ = Task { await Self.waitForEver() }
            try await Task.sleep(for: .seconds(1))
        }
        let leak = try #require(failure.error as? RunLoop.Simulation.LeakedContinuation, "\(failure)")
        #expect(leak.tasks.count == 1 && leak.tasks[0].hasPrefix("Task 3 "), "\(failure)")
    }

    @Test("The line of a trap is that which the program says")
    func saidLine() async throws {
        let failure = try await failure(seeds: 1) { _ in fatalError("the end", file: "Pool/Pool.swift", line: 12) }
        let trap = try #require(failure.error as? RunLoop.Simulation.Trap, "\(failure)")
        #expect(trap.what == "Fatal error: the end" && trap.place.hasSuffix(", Pool/Pool.swift:12"), "\(failure)")
        #expect(trap.calls.first == trap.place, "\(failure)")
    }

    @Test("A task that sleeps waits for no dropped continuation, also if that is called by another function's name")
    func leakElsewhere() async throws {
        let failure = try await failure { _ in
            _ = Task {
                await withCheckedContinuation(function: "elsewhere()") { (_: CheckedContinuation<Void, Never>) in }
            }
            try await Task.sleep(for: .seconds(1))
        }
        let leak = try #require(failure.error as? RunLoop.Simulation.LeakedContinuation, "\(failure)")
        #expect(leak.function == "elsewhere()", "\(failure)")
        #expect(leak.tasks.count == 1 && leak.tasks[0].hasPrefix("Task 2 "), "\(failure)")
    }

    private static func end() { if unsafe getenv("RUNLOOP_NEVER") == nil { fatalError("the end") } }
    private static func waitForEver() async {
        await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
    }
}

private final class Order: Sendable {
    private let numbers = Mutex<[Int]>([])

    func add(_ number: Int) {
        numbers.withLock { numbers in
            numbers.append(number)
            precondition(numbers.last != 1 || numbers.count < 4 || numbers[0] != 4, "not in this order")
        }
    }
}
