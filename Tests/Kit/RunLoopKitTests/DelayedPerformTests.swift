import Glibc
import RunLoopKit
import Testing

/// Delayed closures are called once, or never, and freed in any case.
@Suite struct DelayedPerformTests {
    @Test("R8 A thread that ends frees its delayed closures without a call, and takes no more")
    func endOfThread() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let loop = thread.loop
            let freed = Count()
            let accepted = [
                delay(by: .seconds(1000), freed) { loop.perform(after: $0, $1) },
                delay(by: .zero, freed) { loop.perform(after: $0, inModes: ["never run", "nor this"], $1) },
            ]
            #expect(accepted == [true, true])
            thread.stop()
            thread.join()
            #expect(freed.value == 2)
            #expect(!delay(by: .zero, freed) { loop.perform(after: $0, $1) })
            #expect(freed.value == 3)
        }
    }

    @Test("Without modes a delayed closure is freed at once")
    func noModes() async throws {
        try await withRunLoopThread {
            let freed = Count()
            #expect(!delay(by: .zero, freed) { RunLoop.current.perform(after: $0, inModes: [], $1) })
            #expect(freed.value == 1)
        }
    }

    @Test("A delayed closure runs on the loop's thread, not before its delay, and is freed then")
    func onThread() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let loop = thread.loop
            let start = RunLoop.Instant.now
            let ran = Handed<RunLoop.Instant?>()
            let freed = Count()
            loop.perform(after: .milliseconds(10), tolerance: .milliseconds(5)) { [token = Token(freed)] in
                token.touch()
                ran.put(loop.isCurrent ? .now : nil)
            }
            let date = try #require(ran.take() ?? nil)
            #expect(date - start >= .milliseconds(10))
            #expect(waitUntil { freed.value == 1 })
        }
    }

    @Test("Closures performed by many threads at once: each is called once, and freed")
    func races() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let loop = thread.loop
            let (ran, freed) = (Count(), Count())
            let workers = (0..<4).map { _ in
                TestThread {
                    for number in 0..<500 {
                        let token = Token(freed)
                        loop.perform(after: .microseconds(number % 3 * 50)) {
                            token.touch()
                            ran.increment()
                        }
                    }
                }
            }
            for worker in workers { worker.join() }
            #expect(waitUntil { freed.value == 2000 })
            #expect(ran.value == 2000)
        }
    }

    @Test("A scope's closures are freed when it is invalidated, and when its loop's thread ends")
    func endOfScopes() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let freed = Count()
            let scope = makeScope(thread.loop, freed)
            let other = makeScope(thread.loop, freed)
            scope.invalidate()
            scope.invalidate()
            #expect(waitUntil { freed.value == 1 })
            thread.stop()
            thread.join()
            #expect(freed.value == 2)
            other.invalidate()
        }
    }
}

/// Performs a closure that must not be called, and counts when it is freed.
private func delay(
    by delay: Duration, _ freed: Count, _ perform: (Duration, sending @escaping () -> Void) -> Bool
) -> Bool {
    let token = Token(freed)
    return perform(delay) {
        token.touch()
        Issue.record("It was called.")
    }
}

private func makeScope(_ loop: RunLoop, _ freed: Count) -> RunLoop.IterationScope {
    let token = Token(freed)
    return RunLoop.IterationScope(on: loop) {
        token.touch()
    } close: { _ in
    }
}
