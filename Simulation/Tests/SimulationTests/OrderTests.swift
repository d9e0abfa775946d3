import Glibc
import RunLoopKit
import RunLoopKitSimulation
import Synchronization
import Testing

/// What was done, in its order.
private final class Log: Sendable {
    private let text = Mutex("")

    func add(_ letter: String) { text.withLock { $0 += letter } }
    var all: String { text.withLock { $0 } }
}

/// The logs of all runs.
private final class Logs: Sendable {
    private let logs = Mutex<Set<String>>([])

    func add(_ log: Log) { logs.withLock { _ = $0.insert(log.all) } }
    var all: [String] { logs.withLock { $0.sorted() } }
}

private actor Letters {
    func wait(in waiting: Guarded<UnsafeContinuation<Void, Never>?>, for log: Log) async {
        await withUnsafeContinuation { waiter in waiting.withLock { $0 = waiter } }
        log.add("a")
    }
}

/// A program of a few messages.
private struct Program: Sendable, CustomStringConvertible {
    let description: String
    /// What real threads can show.
    let orders: [String]
    let body: @Sendable (RunLoop.Simulation, Log) async throws -> Void

    static let all = [
        Program(description: "a message that is passed on, and one that is sent directly", orders: ["ab", "ba"]) {
            simulation, log in
            let (x, y) = (try simulation.makeLoop("x"), try simulation.makeLoop("y"))
            x.perform { y.perform { log.add("a") } }
            y.perform { log.add("b") }
        },
        Program(description: "a message to each of two loops", orders: ["ab", "ba"]) { simulation, log in
            let (x, y) = (try simulation.makeLoop("x"), try simulation.makeLoop("y"))
            x.perform { log.add("a") }
            y.perform { log.add("b") }
        },
        Program(description: "two messages to one loop", orders: ["ab"]) { simulation, log in
            let x = try simulation.makeLoop("x")
            x.perform { log.add("a") }
            x.perform { log.add("b") }
        },
        Program(description: "a message, and what its sender does next", orders: ["ab", "ba"]) { simulation, log in
            try simulation.makeLoop("x").perform { log.add("a") }
            log.add("b")
        },
        Program(description: "a task, and what its creator does next", orders: ["ab", "ba"]) { _, log in
            Task { log.add("a") }
            log.add("b")
        },
        Program(description: "an actor's task that is resumed, and what is done next", orders: ["ab", "ba"]) { _, log in
            let (letters, waiting) = (Letters(), Guarded<UnsafeContinuation<Void, Never>?>(nil))
            let task = Task { await letters.wait(in: waiting, for: log) }
            try await Task.sleep(for: .seconds(1))
            waiting.withLock { $0 }?.resume()
            log.add("b")
            await task.value
        },
        Program(
            description: "what a loop serves twice, and what another does meanwhile", orders: ["aab", "aba", "baa"]
        ) {
            simulation, log in
            let x = try simulation.makeLoop("x")
            var ends: [CInt] = [-1, -1]
            try simulation.require(unsafe pipe(&ends) == 0, "there is a pipe")
            defer { for end in ends { close(end) } }
            let (reader, writer) = (ends[0], ends[1])
            let source = try RunLoop.Source(fileDescriptor: reader) { _ in
                var byte: UInt8 = 0
                log.add("a")
                unsafe read(reader, &byte, 1)
            }
            try x.add(source, forMode: .default)
            unsafe write(writer, "xx", 2)
            await Task.yield()
            log.add("b")
            try await Task.sleep(for: .seconds(1))
            source.invalidate()
        },
        Program(description: "two tasks of two steps", orders: ["abcd", "acbd", "acdb", "cabd", "cadb", "cdab"]) {
            _, log in
            await withTaskGroup(of: Void.self) { group in
                for steps in [["a", "b"], ["c", "d"]] {
                    group.addTask {
                        log.add(steps[0])
                        await Task.yield()
                        log.add(steps[1])
                    }
                }
            }
        },
        Program(description: "a signal between two that are marked", orders: ["aab", "ab", "aba"]) { simulation, log in
            let x = try simulation.makeLoop("x")
            let a = RunLoop.Source(order: 1) { log.add("a") }
            let b = RunLoop.Source(order: 2) { log.add("b") }
            try x.add(a, forMode: .default)
            try x.add(b, forMode: .default)
            a.signal(waking: x)
            b.signal(waking: x)
            a.signal(waking: x)
            try await Task.sleep(for: .seconds(1))
            a.invalidate()
            b.invalidate()
        },
    ]
}

private final class Number: Sendable {
    private let value = Mutex(0)

    func withLock<Result>(_ body: (inout sending Int) -> sending Result) -> sending Result { value.withLock(body) }
}

/// Two accounts, each behind a lock, between which money is moved: the locks are taken in the order of the arguments.
private final class Accounts: Sendable {
    let first = Mutex(100)
    let second = Mutex(100)
    let moved: @Sendable () -> Void

    init(_ moved: @escaping @Sendable () -> Void) { self.moved = moved }

    func moveForth(_ amount: Int) {
        first.withLock { first in
            first -= amount
            moved()
            second.withLock { $0 += amount }
        }
    }

    func moveBack(_ amount: Int) {
        second.withLock { second in
            second -= amount
            moved()
            first.withLock { $0 += amount }
        }
    }
}

@Suite struct OrderTests {
    @Test(
        "Every order that real threads can show is shown by some seed, and by the search of all orders",
        arguments: Program.all)
    fileprivate func orders(program: Program) async throws {
        let (seeds, search) = (Logs(), Logs())
        try await simulate(seeds: 300) { simulation in
            let log = Log()
            try await program.body(simulation, log)
            try await Task.sleep(for: .seconds(1))
            seeds.add(log)
        }
        let report = try await simulateAllOrders(preemptions: 1) { simulation in
            let log = Log()
            try await program.body(simulation, log)
            try await Task.sleep(for: .seconds(1))
            search.add(log)
        }
        #expect(report.isComplete, "\(report)")
        #expect("\(report)".hasPrefix("All \(report.runs) orders with at most 1 preemptions"))
        #expect(search.all == program.orders)
        #expect(seeds.all == search.all)
    }

    @Test("A thread that has a lock may have to wait for its turn; one that wants the lock lets it go on")
    func locks() async throws {
        let orders = Logs()
        try await simulate(seeds: 200) { simulation in
            let x = try simulation.makeLoop("x")
            let (log, mutex) = (Log(), Number())
            let guarded = Guarded(0)
            async let first: Void = mutex.withLock { number in
                x.perform { log.add("a") }
                number += 1
            }
            async let second: Void = mutex.withLock { number in
                x.perform { log.add("b") }
                number += 1
            }
            async let third: Void = guarded.withLock { number in
                Task { log.add("c") }
                number += 1
            }
            async let fourth: Void = guarded.withLock { $0 += 1 }
            _ = await (first, second, third, fourth)
            try await Task.sleep(for: .seconds(1))
            try simulation.require(mutex.withLock { $0 } == 2 && guarded.withLock { $0 } == 2, "the locks hold")
            orders.add(log)
        }
        #expect(orders.all == ["abc", "acb", "bac", "bca", "cab", "cba"])
    }

    @Test("A thread that locks a lock which it has already gets an error, as outside of a simulation")
    func lockTwice() async throws {
        try await simulate(seeds: 1) { simulation in
            try simulation.require(takeTwice() == EDEADLK, "it would wait for itself")
        }
    }

    @Test("Two locks that are taken in two orders are a standstill, which names both tasks")
    func deadlock() async throws {
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 200) { simulation in
                    let loop = simulation.loop
                    let accounts = Accounts { loop.wakeUp() }
                    async let forth: Void = accounts.moveForth(10)
                    async let back: Void = accounts.moveBack(10)
                    _ = await (forth, back)
                }
            })
        let standstill = try #require(failure.error as? RunLoop.Simulation.Standstill)
        #expect(standstill.tasks.count { $0.contains("a lock") } == 2, "\(standstill)")
        #expect(failure.isRepeatable)
    }

    @Test("A bounded search says how many orders there are, and finds what needs one preemption")
    func bounded() async throws {
        let body: @Sendable (RunLoop.Simulation) async throws -> Void = { simulation in
            let number = Number()
            let x = try simulation.makeLoop("x")
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        let seen = number.withLock { $0 }
                        x.wakeUp()
                        number.withLock { $0 = seen + 1 }
                    }
                }
            }
            try simulation.require(number.withLock { $0 } == 2, "both count")
        }
        let none = try await simulateAllOrders(preemptions: 0, body)
        #expect(none.isComplete && none.runs > 1)
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) { try await simulateAllOrders(preemptions: 1, body) }
        )
        #expect(failure.isRepeatable)
        let few = try await simulateAllOrders(preemptions: 0, atMost: 1, body)
        #expect(!few.isComplete && few.runs == 1)
        await #expect(throws: RunLoop.Simulation.Failure.self) { try await replay(failure.journal, body) }
    }

    private static func sleepTwice(_ simulation: RunLoop.Simulation) async throws {
        try await Task.sleep(for: .seconds(1))
        try await Task { try await ContinuousClock().sleep(for: .seconds(2)) }.value
        try simulation.require(false, "this fails")
    }

    @Test("The story says whom the end of a sleep wakes, and numbers only the program's own tasks")
    func sleepsInStories() async throws {
        let failure = try #require(await failure(seeds: 1, Self.sleepTwice))
        let ends = [
            "1.0 seconds the end of a sleep wakes task 1, to run OrderTests.sleepTwice, SimulationTests/OrderTests.swift:",
            "3.0 seconds the end of a sleep wakes task 2, to run closure #1 in OrderTests.sleepTwice, SimulationTests/OrderTests.swift:",
        ]
        for end in ends { #expect(failure.story.contains { $0.hasPrefix(end) }, "\(failure)") }
        #expect(!failure.story.contains { $0.contains("task 3") || $0.contains("Task.") }, "\(failure)")
    }

    @Test("The story says which task sent what to which loop, when, and at which line")
    func story() async throws {
        let failure = try #require(await failure(seeds: 100, sendTwice))
        let first = #"1.5 seconds task 1 sends closure #1 in sendTwice to loop x, at SimulationTests/OrderTests.swift:"#
        let second =
            #"1.5 seconds loop x sends closure #1 in sendTwice to loop y, at SimulationTests/OrderTests.swift:"#
        #expect(failure.story.contains { $0.hasPrefix(first) }, "\(failure)")
        #expect(failure.story.contains { $0.hasPrefix(second) }, "\(failure)")
        #expect(failure.story.last == "2.5 seconds task 1 notes: both have come", "\(failure)")
    }

    private func failure(
        seeds: Int, _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
    ) async -> RunLoop.Simulation.Failure? {
        do {
            try await simulate(seeds: seeds, body)
            return nil
        } catch {
            return error as? RunLoop.Simulation.Failure
        }
    }

    @Test("A standstill names each task that waits, without help: for what, since when, and where")
    func waitingTasks() async throws {
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 1) { _ in
                    let task = Task {
                        try await Task.sleep(for: .seconds(2))
                        await waitForEver()
                    }
                    try await task.value
                }
            })
        let tasks = try #require(failure.error as? RunLoop.Simulation.Standstill).tasks
        #expect(tasks.count == 2)
        #expect(tasks.first?.hasPrefix("Task 1 awaits task 2 in ") == true, "\(tasks)")
        #expect(
            tasks.last?.hasPrefix("Task 2 awaits a continuation in waitForEver, SimulationTests/OrderTests.swift:")
                == true, "\(tasks)")
        #expect(tasks.last?.hasSuffix(" since 2.0 seconds") == true, "\(tasks)")
    }
}

@Sendable private func sendTwice(_ simulation: RunLoop.Simulation) async throws {
    let (x, y, log) = (try simulation.makeLoop("x"), try simulation.makeLoop("y"), Log())
    try await Task.sleep(for: .milliseconds(1500))
    x.perform { y.perform { log.add("a") } }
    y.perform { log.add("b") }
    try await Task.sleep(for: .seconds(1))
    simulation.note("both have come")
    try simulation.require(log.all == "ba", "what is sent directly comes first")
}

/// What the second call comes to.
private func takeTwice() -> CInt {
    var attributes = pthread_mutexattr_t()
    unsafe pthread_mutexattr_init(&attributes)
    unsafe pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ERRORCHECK))
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, &attributes)
    defer {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe pthread_mutex_lock(mutex)
}

private let kept = Guarded<[UnsafeContinuation<Void, Never>]>([])

private func waitForEver() async {
    await withUnsafeContinuation { waiter in kept.withLock { $0.append(waiter) } }
}
