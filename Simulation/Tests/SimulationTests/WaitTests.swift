import Glibc
import RunLoopKit
import RunLoopKitSimulation
import Testing

/// What programs wait for in the middle of something, by the functions of libc.
final class Waits: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private let shared = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)

    init() {
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
        unsafe sem_init(semaphore, 0, 0)
        unsafe pthread_rwlock_init(shared, nil)
    }

    // A run that never ends has them for ever.
    func lock() { unsafe pthread_mutex_lock(mutex) }
    func unlock() { unsafe pthread_mutex_unlock(mutex) }
    func wait() { unsafe pthread_cond_wait(condition, mutex) }
    func signal() { unsafe pthread_cond_signal(condition) }
    func broadcast() { unsafe pthread_cond_broadcast(condition) }
    func take() { unsafe sem_wait(semaphore) }
    func lock(until date: timespec) -> Int32 {
        unsafe withUnsafePointer(to: date) { unsafe pthread_mutex_timedlock(mutex, $0) }
    }
    func wait(until date: timespec) {
        _ = unsafe withUnsafePointer(to: date) { unsafe pthread_cond_timedwait(condition, mutex, $0) }
    }
    func take(until date: timespec) {
        _ = unsafe withUnsafePointer(to: date) { unsafe sem_timedwait(semaphore, $0) }
    }
    func post() { unsafe sem_post(semaphore) }
    func read() { unsafe pthread_rwlock_rdlock(shared) }
    func write() { unsafe pthread_rwlock_wrlock(shared) }
    func endAccess() { unsafe pthread_rwlock_unlock(shared) }

    /// Both of the locks, with a place at which others may go on between them.
    func lock(with other: Waits, _ loop: RunLoop) {
        lock()
        loop.wakeUp()
        other.lock()
        other.unlock()
        unlock()
    }
}

@Suite struct WaitTests {
    private func standstill(
        _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
    ) async throws -> RunLoop.Simulation.Standstill {
        let failure = try #require(
            await #expect(throws: RunLoop.Simulation.Failure.self) {
                try await simulate(seeds: 300) { simulation in
                    simulation.awaitThreadsOutside(for: 50)
                    try await body(simulation)
                }
            })
        #expect(failure.isRepeatable, "\(failure)")
        return try #require(failure.error as? RunLoop.Simulation.Standstill, "\(failure)")
    }

    @Test("A lock that was given back is no standstill, also if the task that gave it waits for the one that wants it")
    func freeLock() async throws {
        try await simulate(seeds: 300) { _ in
            let waits = Waits()
            let stored = Guarded<UnsafeContinuation<Void, Never>?>(nil)
            @Sendable func takeStored() -> UnsafeContinuation<Void, Never>? {
                waits.lock()
                defer { waits.unlock() }
                return stored.withLock { stored in
                    defer { stored = nil }
                    return stored
                }
            }
            @Sendable func begin() { waits.lock() }
            let task = Task {
                await withTaskCancellationHandler {
                    begin()
                    Task {}
                    await withUnsafeContinuation { waiter in
                        let isCancelled = Task.isCancelled
                        if !isCancelled { stored.withLock { $0 = waiter } }
                        waits.unlock()
                        if isCancelled { waiter.resume() }
                    }
                } onCancel: {
                    takeStored()?.resume()
                }
            }
            if Bool.random() { await Task.yield() }
            task.cancel()
            await task.value
        }
    }

    @Test("A wait for a semaphore, a condition or a lock of readers lets others go on, which end it")
    func waits() async throws {
        try await simulate(seeds: 200) { simulation in
            let waits = Waits()
            let number = Guarded(0)
            @Sendable func count() { number.withLock { $0 += 1 } }
            @Sendable func consume() {
                waits.lock()
                while number.withLock({ $0 }) < 5 { waits.wait() }
                waits.unlock()
            }
            @Sendable func produce() {
                waits.lock()
                count()
                waits.broadcast()
                waits.unlock()
            }
            @Sendable func change() {
                waits.write()
                simulation.loop.wakeUp()
                waits.endAccess()
                waits.read()
                simulation.loop.wakeUp()
                waits.endAccess()
            }
            @Sendable func take() { waits.take() }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<5 {
                    group.addTask { take() }
                    group.addTask { consume() }
                    group.addTask { change() }
                    group.addTask {
                        await Task.yield()
                        produce()
                        waits.post()
                    }
                }
            }
        }
    }

    @Test("A signal wakes one that waits, in the simulation or outside")
    func oneSignal() async throws {
        let outside = try await simulateOnce { waits in waits.signal() }
        #expect(outside == 1)
    }

    /// How many of two that wait for a condition a task has woken.
    private func simulateOnce(_ wake: @escaping @Sendable (Waits) -> Void) async throws -> Int {
        try await withSimulation { _ in
            let waits = Waits()
            let woken = Guarded(0)
            @Sendable func wait() {
                waits.lock()
                waits.wait()
                woken.withLock { $0 += 1 }
                waits.unlock()
            }
            for _ in 0..<2 { _ = Task { wait() } }
            try await Task.sleep(for: .seconds(1))
            wake(waits)
            try await Task.sleep(for: .seconds(1))
            return woken.withLock { $0 }
        }
    }

    @Test("A post, a signal and a lock that never come are standstills, which say what is waited for")
    func never() async throws {
        let semaphore = try await standstill { _ in
            let waits = Waits()
            await Task { waits.take() }.value
        }
        #expect(semaphore.tasks.contains { $0.hasPrefix("Task 2 waits for a semaphore") }, "\(semaphore)")
        #expect(semaphore.tasks.count == 2, "each is named once: \(semaphore)")
        let condition = try await standstill { _ in
            let waits = Waits()
            await Task { @MainActor in
                waits.lock()
                waits.wait()
            }.value
        }
        #expect(condition.tasks.contains { $0.hasPrefix("Task 2 waits for a condition") }, "\(condition)")
    }

    @Test("Two locks in two orders are a standstill also if the main actor has one of them")
    func mainActor() async throws {
        let found = try await standstill { simulation in
            let (first, second, loop) = (Waits(), Waits(), simulation.loop)
            let forth = Task { @MainActor in first.lock(with: second, loop) }
            let back = Task.detached { second.lock(with: first, loop) }
            await forth.value
            await back.value
        }
        #expect(found.tasks.count { $0.contains("waits for a lock") } == 2, "\(found)")
    }

    @Test("A wait for a lock names the functions that want it, also if a lock of some library's has many of its own")
    func wrapped() async throws {
        let found = try await standstill { simulation in
            let (first, second, loop) = (WrappedLock(), WrappedLock(), simulation.loop)
            @Sendable func take(_ one: WrappedLock, _ other: WrappedLock) {
                one.withLock {
                    loop.wakeUp()
                    other.withLock {}
                }
            }
            let forth = Task { take(first, second) }
            let back = Task { take(second, first) }
            await forth.value
            await back.value
        }
        let waits = found.tasks.filter { $0.contains("waits for a lock") }
        #expect(waits.count == 2 && waits.allSatisfy { $0.contains("WaitTests.swift:") }, "\(found)")
    }
}
