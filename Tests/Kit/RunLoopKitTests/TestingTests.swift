import Glibc
import RunLoopKit
import RunLoopKitTesting
import Testing

@Suite struct TestingTests {
    @Test("R25 Only iterations that have something to do are run")
    func iterations() async throws {
        try await withRunLoop { loop in
            let trace = Trace()
            #expect(loop.iterate() == 0)
            let source = RunLoop.Source { trace.note("source") }
            try loop.add(source, forMode: .default)
            try loop.add(RunLoop.Timer(after: .seconds(3600)) { _ in trace.note("timer") }, forMode: .default)
            #expect(loop.iterate(times: 3) == 0)
            source.signal()
            loop.perform {
                trace.note("first")
                loop.perform { trace.note("second") }
            }
            #expect(loop.iterate(times: .max) == 1)
            #expect(trace.all == ["first", "source", "second"])
            loop.perform(inModes: ["other"]) { trace.note("other") }
            #expect(loop.iterate(times: .max) == 0)
            #expect(loop.iterate(mode: "other") == 1)
            #expect(trace.all.last == "other")
        }
    }

    @Test("A number of iterations ends what would continue for ever")
    func limitedIterations() async throws {
        await withRunLoop { loop in
            let count = Count()
            @Sendable func again() {
                count.increment()
                loop.perform(again)
            }
            loop.perform(again)
            #expect(loop.iterate(times: 7) == 7)
            #expect(count.value >= 7)
        }
    }

    @Test("A run until a condition holds is not ended by stops or an empty mode, and needs no wake-up")
    func conditionHolds() async throws {
        try await withRunLoop { loop in
            let count = Count()
            try loop.runUntil { true }
            loop.perform { loop.stop() }
            let other = TestThread {
                _ = waitUntil { loop.currentMode == .default }
                count.increment()
            }
            try loop.runUntil("the other thread has counted") { count.value == 1 }
            other.join()
            #expect(!loop.hasWork())
            #expect(loop.run(mode: .default, for: generous) == .finished)
        }
    }

    @Test("A condition that does not hold throws what was awaited, where, and the description of the loop")
    func conditionFails() async throws {
        let start = RunLoop.Instant.now
        let failure = try await withRunLoop { loop in
            try loop.add(RunLoop.Timer(after: .seconds(3600)) { _ in }, forMode: "platform")
            return #expect(throws: AwaitedConditionFailure.self) {
                try loop.runUntil("the train", mode: "platform", within: .milliseconds(20)) { false }
            }
        }
        #expect(RunLoop.Instant.now - start >= .milliseconds(20))
        let text = try #require(failure).description
        #expect(text.hasPrefix("the train did not come about within 0.02 seconds of running the mode platform"))
        #expect(text.contains("RunLoopKitTests/TestingTests.swift:"))
        #expect(text.contains("timer"))
    }

    @Test("An error of the condition is thrown")
    func conditionThrows() async throws {
        await #expect(throws: Refusal.self) {
            try await withRunLoop { loop in try loop.runUntil { throw Refusal() } }
        }
        // A later one as well, at once, where only the condition can end the run.
        await #expect(throws: Refusal.self) {
            try await withVirtualTime { loop, _ in
                let looks = Count()
                try loop.runUntil(within: .seconds(3600)) {
                    looks.increment()
                    if looks.value > 3 { throw Refusal() }
                    return false
                }
            }
        }
    }

    @Test("A body on a thread of its own returns its value, throws its error, and leaves no loop behind")
    func bodyOnItsThread() async throws {
        let token = Count()
        let loop = await withRunLoop { loop in
            #expect(loop.isCurrent)
            let token = Token(token)
            loop.perform { token.touch() }
            return loop
        }
        // The end of the thread has freed the closure that was not called.
        #expect(token.value == 1)
        #expect(!loop.perform {})
        do throws(RunLoop.Error) {
            try await withRunLoop { (_) throws(RunLoop.Error) in throw .badDescriptor }
            Issue.record("Nothing was thrown.")
        } catch {
            #expect(error == .badDescriptor)
        }
    }

    @Test("Many bodies can wait for each other, since none of them blocks the pool")
    func manyBodies() async throws {
        let count = Count()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    try await withRunLoop { loop in
                        count.increment()
                        try loop.runUntil("all have begun") { count.value == 16 }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("An asynchronous body has a running loop, whose thread has ended afterwards")
    func asynchronousBody() async throws {
        let trace = Trace()
        let thread = await withRunningLoop { thread in
            await withCheckedContinuation { continuation in
                thread.perform { continuation.resume() }
            }
            thread.perform(inModes: ["never run"]) {
                usleep(20_000)
                trace.note("at the end")
            }
            return thread
        }
        #expect(trace.all == ["at the end"])
        #expect(!thread.perform {})
        await #expect(throws: Refusal.self) { try await withRunningLoop { _ in throw Refusal() } }
    }
}

private struct Refusal: Error {}
