import Dispatch
import Glibc
import RunLoopKit
import Testing

/// Calls on a loop's thread that a task waits for.
@Suite struct PerformAndWaitTests {
    @Test("A task gets the value, and the error, typed or not, of a call on another thread")
    func valuesAndErrors() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        #expect(await thread.performAndWait { loop.isCurrent })
        #expect(try await loop.performAndWait { loop.isCurrent })
        do throws(RunLoop.Error) {
            try await thread.performAndWait { () throws(RunLoop.Error) in throw .badDescriptor }
            Issue.record("Nothing was thrown.")
        } catch {
            #expect(error == .badDescriptor)
        }
        await #expect(throws: Refusal.self) { try await thread.performAndWait { throw Refusal() } }
        do {
            try await loop.performAndWait { () throws(RunLoop.Error) in throw .badDescriptor }
            Issue.record("Nothing was thrown.")
        } catch {
            // Without a `default`: the compiler knows all reasons.
            switch error {
            case .thrown(let reason): #expect(reason == .badDescriptor)
            case .cancelled, .closed: Issue.record("\(error)")
            }
        }
        let untyped = await #expect(throws: RunLoop.CallError<any Error>.self) {
            try await loop.performAndWait { throw Refusal() }
        }
        if case .thrown(let reason) = untyped { #expect(reason is Refusal) } else { Issue.record("Not thrown.") }
    }

    @Test("State that is not Sendable may be sent in both directions")
    func stateHandedOver() async throws {
        let thread = try RunLoop.Thread()
        let plain = Plain()
        let other = await thread.performAndWait {
            plain.number += 1
            let other = Plain()
            other.number = plain.number + 1
            return other
        }
        #expect(other.number == 2)
    }

    @Test("Other tasks run, however many tasks wait")
    func blocksNoThread() async throws {
        let thread = try RunLoop.Thread()
        let gate = DispatchSemaphore(value: 0)
        thread.perform { gate.wait() }
        let tasks = (0..<100).map { number in
            Task {
                let loop = thread.loop
                return number % 2 == 0
                    ? await thread.performAndWait { number } : try await loop.performAndWait { number }
            }
        }
        // These tasks could not end if the others blocked the threads of the pool.
        for _ in 0..<10 { await Task.detached {}.value }
        gate.signal()
        var sum = 0
        for task in tasks { sum += try await task.value }
        #expect(sum == 4950)
    }

    @Test("A call on the thread itself is made at once")
    func atOnceOnThread() async throws {
        let thread = try RunLoop.Thread()
        let caller = Caller(thread)
        #expect(try await caller.call() == [1, 2])
    }

    @Test("A cancelled task that would call at once does not call")
    func notAtOnceIfCancelled() async throws {
        let thread = try RunLoop.Thread()
        let caller = Caller(thread)
        await #expect(throws: RunLoop.CallError<Never>.cancelled) {
            try await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await caller.callWithoutThread()
            }.value
        }
    }

    @Test("An accepted closure is called, even if the thread ends first and the task is cancelled")
    func acceptedIsCalled() async throws {
        let thread = try RunLoop.Thread()
        let mode = RunLoop.Mode("never run")
        let task = Task { await thread.performAndWait(inModes: [mode]) { 7 } }
        #expect(try await eventually { thread.loop.allModes.contains(mode) })
        task.cancel()
        thread.stop()
        #expect(await task.value == 7)
    }

    @Test("A loop whose thread ends, or has ended, throws, and frees the closure")
    func endOfThread() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let mode = RunLoop.Mode("never run")
        let freed = Count()
        let task = Task {
            let token = Token(freed)
            try await loop.performAndWait(inModes: [mode]) {
                token.touch()
                Issue.record("It was called.")
            }
        }
        #expect(try await eventually { loop.allModes.contains(mode) })
        thread.stop()
        await #expect(throws: RunLoop.CallError<Never>.closed) { try await task.value }
        #expect(try await eventually { freed.value == 1 })
        try await withRunLoopThread { thread.join() }
        await #expect(throws: RunLoop.CallError<Never>.closed) {
            try await loop.performAndWait {}
        }
    }

    @Test("A cancelled task's call is not made, and freed, unless it has begun")
    func cancellation() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let mode = RunLoop.Mode("never run")
        let freed = Count()
        let waiting = Task {
            let token = Token(freed)
            try await loop.performAndWait(inModes: [mode]) {
                token.touch()
                Issue.record("It was called.")
            }
        }
        #expect(try await eventually { loop.allModes.contains(mode) })
        waiting.cancel()
        await #expect(throws: RunLoop.CallError<Never>.cancelled) { try await waiting.value }
        #expect(try await eventually { freed.value == 1 })

        let before = Task {
            while !Task.isCancelled { await Task.yield() }
            try await loop.performAndWait { Issue.record("It was called.") }
        }
        before.cancel()
        await #expect(throws: RunLoop.CallError<Never>.cancelled) { try await before.value }

        let (begun, gate) = (Count(), DispatchSemaphore(value: 0))
        let running = Task {
            try await loop.performAndWait {
                begun.increment()
                gate.wait()
                return 5
            }
        }
        #expect(try await eventually { begun.value == 1 })
        running.cancel()
        gate.signal()
        #expect(try await running.value == 5)
    }

    @Test("Calls, cancellations and the end of the thread at once: every task is resumed")
    func races() async throws {
        for attempt in 0..<40 {
            let thread = try RunLoop.Thread()
            let loop = thread.loop
            let called = Count()
            let tasks = (0..<8).map { _ in
                Task { try await loop.performAndWait { called.increment() } }
            }
            for task in tasks[..<(attempt % 4)] { task.cancel() }
            if attempt % 2 == 0 { thread.stop() }
            var values = 0
            for task in tasks {
                if case .success = await task.result { values += 1 }
            }
            #expect(values == called.value)
        }
    }
}

private struct Refusal: Error {}
private final class Plain { var number = 0 }

private actor Caller {
    private let thread: RunLoop.Thread

    init(_ thread: RunLoop.Thread) {
        self.thread = thread
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.loop.executor.asUnownedSerialExecutor() }

    func call() async throws -> [Int] {
        let mode = RunLoop.Mode("never run")
        return [
            await thread.performAndWait(inModes: [mode]) { 1 },
            try await thread.loop.performAndWait(inModes: [mode]) { 2 },
        ]
    }

    func callWithoutThread() async throws {
        try await thread.loop.performAndWait { () throws(Never) in Issue.record("It was called.") }
    }
}
