import Glibc
import RunLoopKit
import RunLoopKitTesting
import Testing

@Suite struct WithTimeoutTests {
    @Test("What ends within the limit is returned or thrown, and what it uses remains the caller's")
    func inTime() async throws {
        let thread = try RunLoop.Thread()
        let box = Box()
        let value = try await thread.loop.withTimeout(.seconds(100)) {
            box.count += 1
            return box
        }
        value.count += 1
        #expect(box.count == 2)
        await #expect(throws: RunLoop.Error.brokenPipe) {
            try await thread.loop.withTimeout(.seconds(100)) { throw RunLoop.Error.brokenPipe }
        }
        #expect(thread.loop.isEmpty(inMode: .default) == false)
    }

    @Test("What takes longer is cancelled, not early, and its result is dropped")
    func late() async throws {
        let thread = try RunLoop.Thread()
        for isQuiet in [false, true] {
            let begin = RunLoop.Instant.now
            await #expect(throws: RunLoop.Error.timedOut) {
                try await thread.loop.withTimeout(.milliseconds(20)) {
                    do { try await Task.sleep(for: .seconds(1000)) } catch { if !isQuiet { throw error } }
                }
            }
            #expect(.now - begin >= .milliseconds(20))
        }
    }

    @Test("The body is on the caller's actor, and has its executor, priority and values")
    func isolation() async throws {
        let thread = try RunLoop.Thread()
        try await onMainActor(thread.loop)
        let isOnLoop = try await Task(executorPreference: thread.loop.taskExecutor) {
            try await thread.loop.withTimeout(.seconds(100)) { thread.loop.isCurrent }
        }.value
        #expect(isOnLoop)
        let value = try await Value.$number.withValue(7) {
            try await thread.loop.withTimeout(.seconds(100)) { Value.number }
        }
        #expect(value == 7)
    }

    @MainActor private func onMainActor(_ loop: RunLoop) async throws {
        var count = 0
        try await loop.withTimeout(.seconds(100)) {
            MainActor.assertIsolated()
            count += 1
        }
        #expect(count == 1)
    }

    @Test("A caller that is cancelled cancels the body, which says what that comes to")
    func cancelled() async throws {
        let thread = try RunLoop.Thread()
        let task = Task {
            try await thread.loop.withTimeout(.seconds(100)) {
                do { try await Task.sleep(for: .seconds(1000)) } catch { return "cancelled" }
                return "slept"
            }
        }
        task.cancel()
        #expect(try await task.value == "cancelled")
    }

    @Test("The end of the loop's thread ends the body, as no limit would come any more")
    func endOfLoop() async throws {
        let loop = try await endedLoop()
        await #expect(throws: RunLoop.Error.loopFinished) {
            try await loop.withTimeout(.seconds(100)) { try await Task.sleep(for: .seconds(1000)) }
        }
        let thread = try RunLoop.Thread()
        let task = Task {
            try await thread.loop.withTimeout(.seconds(100)) {
                thread.stop()
                try await Task.sleep(for: .seconds(1000))
            }
        }
        await #expect(throws: RunLoop.Error.loopFinished) { try await task.value }
    }

    private func endedLoop() async throws -> RunLoop {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        thread.stop()
        await thread.join()
        return loop
    }
}

private final class Box {
    var count = 0
}

private enum Value {
    @TaskLocal static var number = 0
}
