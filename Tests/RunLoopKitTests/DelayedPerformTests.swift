import Dispatch
import Glibc
import RunLoopKit
import Testing

/// Delayed closures are called, cancelled, or never called, and their registrations have that state.
@Suite struct DelayedPerformTests {
    @Test("A registration has the state of its closure")
    func states() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let during = Trace()
            let slot = Handed<RunLoop.Registration>()
            let done = loop.perform(after: .zero) { during.note("\(slot.take().map { "\($0.state)" } ?? "")") }
            slot.put(done)
            let cancelled = loop.perform(after: .zero) { Issue.record("It was called.") }
            #expect(done.state == .active && cancelled.state == .active)
            cancelled.cancel()
            loop.run()
            #expect(during.all == ["done"])
            done.cancel()
            #expect(done.state == .done)
            #expect(cancelled.state == .cancelled)
            slot.clear()
        }
    }

    @Test("R8 A thread that ends frees its delayed closures without a call, even if their registrations are retained")
    func endOfThread() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let freed = Count()
            let registrations = [
                delay(by: .seconds(1000), freed) { thread.perform(after: $0, $1) },
                delay(by: .seconds(1000), freed) { thread.perform(after: $0, key: 1, $1) },
                delay(by: .zero, freed) { thread.loop.perform(after: $0, inModes: ["never run", "nor this"], $1) },
            ]
            #expect(registrations.allSatisfy { $0.state == .active })
            thread.stop()
            thread.join()
            #expect(freed.value == 3)
            #expect(registrations.allSatisfy { $0.state == .abandoned })
            for registration in registrations { registration.cancel() }
            #expect(thread.cancelPerforms(key: 1) == 0)
            #expect(registrations.allSatisfy { $0.state == .abandoned })

            let late = delay(by: .zero, freed) { thread.perform(after: $0, key: 1, $1) }
            #expect(late.state == .abandoned)
            #expect(freed.value == 4)
        }
    }

    @Test("Without modes a delayed closure is freed at once")
    func noModes() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let registration = delay(by: .zero, freed) { RunLoop.current.perform(after: $0, inModes: [], $1) }
            #expect(registration.state == .abandoned)
            #expect(freed.value == 1)
        }
    }

    @Test("A thread's delayed closure runs on it, not before its delay, and with others in its tolerance")
    func onThread() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let loop = thread.loop
            let start = RunLoop.Instant.now
            let ran = Handed<RunLoop.Instant?>()
            thread.perform(after: .milliseconds(10), tolerance: .milliseconds(5)) {
                ran.put(loop.isCurrent ? .now : nil)
            }
            let date = try #require(ran.take() ?? nil)
            #expect(date - start >= .milliseconds(10))
        }
    }

    @Test("Two closures with one key are both called")
    func sameKeyTwice() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            loop.perform(after: .milliseconds(1), key: "key") { trace.note("first") }
            loop.perform(after: .milliseconds(2), key: "key") { trace.note("second") }
            #expect(loop.run(mode: .default) == .finished)
            #expect(trace.all == ["first", "second"])
            #expect(loop.cancelPerforms(key: "key") == 0)
        }
    }

    @Test("Cancelling a key cancels and frees all closures of this loop with the key, and no others")
    func cancelKey() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let other = try RunLoop.Thread()
            let (freed, ran) = (Count(), Count())
            let mine = [
                delay(by: .zero, freed) { loop.perform(after: $0, key: Key(number: 1), $1) },
                delay(by: .seconds(9), freed) { loop.perform(after: $0, key: Key(number: 1), $1) },
                delay(by: .zero, freed) { loop.perform(after: $0, inModes: ["a", "b"], key: Key(number: 1), $1) },
            ]
            let others = [
                loop.perform(after: .zero, key: Key(number: 2)) { ran.increment() },
                loop.perform(after: .zero, key: 1) { ran.increment() },
                loop.perform(after: .zero) { ran.increment() },
            ]
            let elsewhere = other.perform(after: .seconds(1000), key: Key(number: 1)) {}
            mine[1].cancel()
            #expect(loop.cancelPerforms(key: Key(number: 1)) == 2)
            #expect(loop.cancelPerforms(key: Key(number: 1)) == 0)
            #expect(freed.value == 3)
            #expect(mine.allSatisfy { $0.state == .cancelled })
            #expect(loop.run(mode: .default) == .finished)
            #expect(ran.value == 3)
            #expect(others.allSatisfy { $0.state == .done })
            #expect(elsewhere.state == .active)
        }
    }

    @Test("A closure may cancel its own key: it continues, and the others are cancelled")
    func cancelOwnKey() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            for name in ["a", "b", "c"] {
                loop.perform(after: .zero, key: 7) {
                    trace.note("\(name) \(loop.cancelPerforms(key: 7))")
                    loop.perform(after: .zero, key: 7) { trace.note("again") }
                }
            }
            #expect(loop.run(mode: .default) == .finished)
            #expect(trace.all == ["a 2", "again"])
        }
    }

    @Test("A key is retained until its closure is over, and may use the loop while it is hashed and compared")
    func keysOfTheUser() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let freed = Count()
            loop.perform(after: .zero, key: BusyKey(loop, Token(freed))) {}
            loop.perform(after: .seconds(1000), key: BusyKey(loop, Token(freed))) {}
            loop.perform(after: .zero) { loop.stop() }
            #expect(freed.value == 0)
            #expect(loop.run(mode: .default) == .stopped)
            #expect(freed.value == 1)
            // The key that cancels is itself a reference.
            #expect(loop.cancelPerforms(key: BusyKey(loop, Token(Count()))) == 1)
            #expect(freed.value == 2)
        }
    }

    @Test("Closures performed and cancelled by many threads at once: each is called or cancelled, and freed")
    func races() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let (ran, cancelled, freed) = (Count(), Count(), Count())
            let workers = (0..<4).map { worker in
                TestThread {
                    for number in 0..<500 {
                        let token = Token(freed)
                        let delay = Duration.microseconds(number % 3 * 50)
                        thread.perform(after: delay, key: number % 5) {
                            token.touch()
                            ran.increment()
                        }
                        if number % 7 == worker {
                            for _ in 0..<thread.cancelPerforms(key: number % 5) { cancelled.increment() }
                        }
                    }
                }
            }
            for worker in workers { worker.join() }
            #expect(waitUntil { freed.value == 2000 })
            #expect(ran.value + cancelled.value == 2000)
        }
    }

    @Test("The registration of a scope is active until it is cancelled, or its loop's thread ends")
    func statesOfScopes() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let freed = Count()
            let scope = addScope(thread.loop, freed)
            let other = addScope(thread.loop, freed)
            #expect(scope.state == .active)
            scope.cancel()
            scope.cancel()
            #expect(scope.state == .cancelled)
            thread.stop()
            thread.join()
            #expect(other.state == .abandoned)
            #expect(freed.value == 2)
            other.cancel()
            #expect(other.state == .abandoned)
        }
    }
}

private struct Key: Hashable, Sendable { let number: Int }

/// A key that calls the loop whenever it is hashed or compared.
private struct BusyKey: Hashable, Sendable {
    let loop: RunLoop
    let token: Token

    init(_ loop: RunLoop, _ token: Token) {
        self.loop = loop
        self.token = token
    }

    static func == (a: BusyKey, b: BusyKey) -> Bool { a.loop.cancelPerforms(key: "other") == 0 }
    func hash(into hasher: inout Hasher) { hasher.combine(loop.cancelPerforms(key: "other")) }
}

/// Performs a closure that must not be called, and counts when it is freed.
private func delay(
    by delay: Duration, _ freed: Count,
    _ perform: (Duration, sending @escaping () -> Void) -> RunLoop.Registration
) -> RunLoop.Registration {
    let token = Token(freed)
    return perform(delay) {
        token.touch()
        Issue.record("It was called.")
    }
}

private func addScope(_ loop: RunLoop, _ freed: Count) -> RunLoop.Registration {
    let token = Token(freed)
    return loop.addIterationScope {
        token.touch()
    } close: { _ in
    }
}
