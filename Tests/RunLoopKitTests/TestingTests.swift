import RunLoopKit
import RunLoopKitTesting
import Testing

@Suite struct TestingTests {
    @Test("R25 Turns are the iterations that have something to do, and no more")
    func turns() async throws {
        try await withRunLoop { loop in
            let trace = Trace()
            #expect(loop.turn() == 0)
            let source = RunLoop.Source { trace.note("source") }
            try loop.add(source, forMode: .default)
            loop.add(RunLoop.Timer(after: .seconds(3600)) { _ in trace.note("timer") }, forMode: .default)
            #expect(loop.turn(times: 3) == 0)
            source.signal()
            loop.perform {
                trace.note("first")
                loop.perform { trace.note("second") }
            }
            #expect(loop.turn(times: .max) == 1)
            #expect(trace.all == ["first", "source", "second"])
            loop.perform(inModes: ["other"]) { trace.note("other") }
            #expect(loop.turn(times: .max) == 0)
            #expect(loop.turn(mode: "other") == 1)
            #expect(trace.all.last == "other")
        }
    }

    @Test("A number of turns ends what would go on for ever")
    func limitedTurns() async throws {
        await withRunLoop { loop in
            let count = Count()
            @Sendable func again() {
                count.increment()
                loop.perform(again)
            }
            loop.perform(again)
            #expect(loop.turn(times: 7) == 7)
            #expect(count.value >= 7)
        }
    }

    @Test("A run until a condition holds goes on through stops, in an otherwise empty mode, unwoken")
    func conditionHolds() async throws {
        try await withRunLoop { loop in
            try loop.runUntil { true }
            let count = Count()
            loop.perform { loop.stop() }
            let other = TestThread {
                _ = waitUntil { loop.currentMode == .default }
                count.increment()
            }
            try loop.runUntil("the other thread has counted") { count.value == 1 }
            other.join()
            #expect(!loop.hasWork())
            #expect(loop.run(mode: .default, for: .seconds(20)) == .finished)
        }
    }

    @Test("A condition in vain tells what was awaited, where, and what the loop looked like")
    func conditionFails() async throws {
        let start = RunLoop.Instant.now
        let failure = await withRunLoop { loop in
            loop.add(RunLoop.Timer(after: .seconds(3600)) { _ in }, forMode: "waiting room")
            return #expect(throws: AwaitedConditionFailure.self) {
                try loop.runUntil("the train", mode: "waiting room", within: .milliseconds(20)) { false }
            }
        }
        #expect(RunLoop.Instant.now - start >= .milliseconds(20))
        let text = try #require(failure).description
        #expect(text.hasPrefix("the train did not come about within 0.02 seconds of running the mode waiting room"))
        #expect(text.contains("RunLoopKitTests/TestingTests.swift:"))
        #expect(text.contains("timer"))
    }

    @Test("What the condition throws is thrown")
    func conditionThrows() async throws {
        await #expect(throws: Refusal.self) {
            try await withRunLoop { loop in try loop.runUntil { throw Refusal() } }
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
        // The thread's end freed the closure that never ran.
        #expect(token.value == 1)
        #expect(!loop.perform {})
        do throws(RunLoop.Error) {
            try await withRunLoop { (_) throws(RunLoop.Error) in throw .badDescriptor }
            Issue.record("Nothing was thrown.")
        } catch {
            #expect(error == .badDescriptor)
        }
    }

    @Test("Many bodies wait for each other, since none of them blocks the pool")
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

    @Test("An asynchronous body has a running loop, whose thread is gone afterwards")
    func asynchronousBody() async throws {
        let trace = Trace()
        let thread = await withRunningLoop { thread in
            await withCheckedContinuation { continuation in
                thread.perform { continuation.resume() }
            }
            thread.perform(inModes: ["never run"]) { trace.note("at the end") }
            return thread
        }
        #expect(trace.all == ["at the end"])
        #expect(!thread.perform {})
        await #expect(throws: Refusal.self) { try await withRunningLoop { _ in throw Refusal() } }
    }
}

private struct Refusal: Error {}
