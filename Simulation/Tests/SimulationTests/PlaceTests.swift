import Glibc
import RunLoopKit
import RunLoopKitSimulation
import Synchronization
import Testing

import class Foundation.NSLock

/// Money behind a lock, in sections that should have been one.
private final class Account: @unchecked Sendable {
    private let lock: any Locking
    private var money = 100

    init(_ lock: any Locking) { self.lock = lock }

    var balance: Int { lock.withLock { money } }

    func withdrawInTwoSteps(_ amount: Int) {
        if balance >= amount { lock.withLock { money -= amount } }
    }

    func withdraw(_ amount: Int) {
        lock.withLock { if money >= amount { money -= amount } }
    }
}

private protocol Locking: Sendable {
    func lock()
    func unlock()
}

extension Locking {
    fileprivate func withLock<Value>(_ body: () -> Value) -> Value {
        lock()
        defer { unlock() }
        return body()
    }
}

extension NSLock: Locking {}
/// As that of SwiftNIO.
extension Waits: Locking {}

/// As many packages have it: a cancellation between the check and the place where the continuation is kept is lost.
private final class Waiter: Sendable {
    private let waiter = Mutex<CheckedContinuation<Void, Never>?>(nil)
    private let checksAgain: Bool
    private let throwsFirst: Bool

    init(checksAgain: Bool, throwsFirst: Bool) { (self.checksAgain, self.throwsFirst) = (checksAgain, throwsFirst) }

    func wait() async {
        await withTaskCancellationHandler {
            if throwsFirst { guard (try? Task.checkCancellation()) != nil else { return } }
            if !throwsFirst && Task.isCancelled { return }
            await withCheckedContinuation { new in
                let isCancelled = waiter.withLock { waiter in
                    if checksAgain && Task.isCancelled { return true }
                    waiter = new
                    return false
                }
                if isCancelled { new.resume() }
            }
        } onCancel: {
            waiter.withLock { waiter in
                defer { waiter = nil }
                return waiter
            }?.resume()
        }
    }
}

private final class TriedCounter: @unchecked Sendable {
    private let lock = NSLock()
    private(set) var count = 0

    func add() {
        while !lock.try() {}
        defer { lock.unlock() }
        let before = count
        usleep(1)
        count = before + 1
    }
}

@Suite struct PlaceTests {
    private func failure(
        _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
    ) async throws -> RunLoop.Simulation.Failure {
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 1000) { simulation in
                    simulation.awaitThreadsOutside(for: 50)
                    try await body(simulation)
                }
            })
        #expect(failure.isRepeatable, "\(failure)")
        return failure
    }

    private static func withdrawTwice(
        from account: Account, _ simulation: RunLoop.Simulation, _ withdraw: @escaping @Sendable (Account) -> Void
    ) async throws {
        async let first: Void = withdraw(account)
        async let second: Void = withdraw(account)
        _ = await (first, second)
        try simulation.require(account.balance >= 0, "the account is not overdrawn")
    }

    @Test("What happens between two sections that are locked is found, with any lock of libc's or Foundation's")
    func checkThenAct() async throws {
        for makeLock in [{ NSLock() }, { Waits() }] as [@Sendable () -> any Locking] {
            let found = try await failure { simulation in
                try await Self.withdrawTwice(from: Account(makeLock()), simulation) { $0.withdrawInTwoSteps(60) }
            }
            #expect(found.error is RunLoop.Simulation.UnmetRequirement, "\(found)")
            #expect(found.story.contains { $0.contains("stops, at SimulationTests/") }, "\(found)")
            #expect(found.journal.count { $0 != 0 } <= 3, "\(found)")
        }
    }

    @Test("A section that is one stays so under a thousand seeds, and in all orders, each of which is tried once")
    func section() async throws {
        let body: @Sendable (RunLoop.Simulation) async throws -> Void = { simulation in
            try await Self.withdrawTwice(from: Account(NSLock()), simulation) { $0.withdraw(60) }
        }
        try await simulate(seeds: 1000, body)
        let one = try await simulateAllOrders(preemptions: 1, body)
        let two = try await simulateAllOrders(preemptions: 2, body)
        #expect(one.isComplete && two.isComplete && one.runs < two.runs && two.runs < 1000, "\(one), \(two)")
    }

    @Test("The search through all orders knows these places, and names the order in which it fails")
    func allOrders() async throws {
        let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await simulateAllOrders(preemptions: 1) { simulation in
                try await Self.withdrawTwice(from: Account(NSLock()), simulation) { $0.withdrawInTwoSteps(60) }
            }
        }
        #expect(failure?.error is RunLoop.Simulation.UnmetRequirement)
    }

    @Test("Two locks in two orders are a standstill, though nothing is sent between them")
    func twoOrders() async throws {
        let found = try await failure { _ in
            let (first, second) = (NSLock(), NSLock())
            async let forth: Void = first.withLock { second.withLock {} }
            async let back: Void = second.withLock { first.withLock {} }
            _ = await (forth, back)
        }
        #expect(found.error is RunLoop.Simulation.Standstill, "\(found)")
    }

    @Test(
        "A cancellation between the check and the continuation is found, and none is missed where it is looked at again"
    )
    func cancellation() async throws {
        let body: @Sendable (Bool, Bool) -> @Sendable (RunLoop.Simulation) async throws -> Void = { again, throwing in
            { simulation in
                let waiter = Waiter(checksAgain: again, throwsFirst: throwing)
                let task = Task { await waiter.wait() }
                if Bool.random() { try? await Task.sleep(for: .milliseconds(1)) }
                task.cancel()
                await simulation.awaiting("the cancelled wait") { await task.value }
            }
        }
        for throwing in [false, true] {
            let found = try await failure(body(false, throwing))
            #expect(found.error is RunLoop.Simulation.Standstill, "\(found)")
            try await simulate(seeds: 1000, body(true, throwing))
        }
    }

    @Test("A thread that tries to take a lock until it has it lets the one go on that has it")
    func tries() async throws {
        try await simulate(seeds: 200) { simulation in
            let counter = TriedCounter()
            async let first: Void = counter.add()
            async let second: Void = counter.add()
            _ = await (first, second)
            try simulation.require(counter.count == 2, "each has had the lock alone")
        }
    }

    @Test("What the library locks for itself is no place")
    func own() async throws {
        let report: (Int) async throws -> RunLoop.Simulation.Report = { count in
            try await simulateAllOrders { _ in
                let numbers = Guarded(0)
                let other = Task {}
                for _ in 0..<count { numbers.withLock { $0 += 1 } }
                await other.value
            }
        }
        let (none, many) = try await (report(0), report(100))
        #expect(none.isComplete && none.runs == many.runs, "\(none), \(many)")
    }
}
