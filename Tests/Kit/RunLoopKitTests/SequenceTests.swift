import Glibc
import RunLoopKit
import Testing

@Suite struct SequenceTests {
    @Test("Ticks are on the schedule, and end with the iteration")
    func ticks() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        var last: RunLoop.Instant?
        var count = 0
        for await tick in loop.ticks(every: .milliseconds(2)) {
            #expect(tick <= .now)
            if let last {
                #expect(tick > last)
                #expect((tick - last) / .milliseconds(2) >= 1)
            }
            last = tick
            count += 1
            if count == 4 { break }
        }
        #expect(count == 4)
        #expect(try await eventually { loop.nextFireDate(inMode: .default) == nil })
    }

    @Test("A slow consumer gets only the newest tick")
    func newestTick() async throws {
        let thread = try RunLoop.Thread()
        var iterator = thread.loop.ticks(every: .milliseconds(1)).makeAsyncIterator()
        let first = try #require(await iterator.next(isolation: nil))
        // Another timer of the loop counts the ticks that were not consumed.
        let count = Count()
        try thread.loop.add(RunLoop.Timer(every: .milliseconds(1)) { _ in count.increment() }, forMode: .common)
        #expect(try await eventually { count.value >= 20 })
        let next = try #require(await iterator.next(isolation: nil))
        #expect(next - first >= .milliseconds(15))
    }

    @Test("Each iteration of ticks has a timer of its own, and a cancelled task ends its own")
    func ticksAreCancelled() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let sequence = loop.ticks(every: .seconds(1000))
        #expect(loop.nextFireDate(inMode: .default) == nil)
        let tasks = (0..<2).map { _ in Task { for await _ in sequence { Issue.record("It ticked.") } } }
        #expect(try await eventually { loop.nextFireDate(inMode: .default) != nil })
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        #expect(try await eventually { loop.nextFireDate(inMode: .default) == nil })
    }

    @Test("Sequences end when the loop's thread ends, and at once when it has ended")
    func endOfThread() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let (reader, writer) = try makePipe()
        let ticking = Task { for await _ in loop.ticks(every: .seconds(1000)) {} }
        let watching = Task { for await _ in loop.activities(.entry) {} }
        let reading = Task { for try await _ in loop.readiness(of: reader) {} }
        #expect(try await eventually { loop.nextFireDate(inMode: .default) != nil })
        thread.stop()
        await ticking.value
        await watching.value
        // It may be between two calls of `next()`, and the loop may have ended.
        if case .failure(let error) = await reading.result { #expect(error as? RunLoop.Error == .loopFinished) }
        for await _ in loop.ticks(every: .seconds(1)) {}
        for try await _ in loop.readiness(of: reader) {}
        close(reader)
        close(writer)
    }

    @Test("The newest activity arrives")
    func activities() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let waker = Task {
            while !Task.isCancelled {
                loop.wakeUp()
                await Task.yield()
            }
        }
        for await activity in loop.activities([.beforeWaiting, .afterWaiting]) {
            #expect(activity == .beforeWaiting || activity == .afterWaiting)
            break
        }
        waker.cancel()
    }

    @Test("A descriptor's state is returned again as long as it holds, at each call")
    func readiness() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let (reader, writer) = try makePipe()
        for _ in 0..<3 { writeByte(writer) }
        var count = 0
        for try await state in loop.readiness(of: reader) {
            if count < 3 {
                #expect(state.contains(.read))
                #expect(readByte(reader))
                count += 1
                if count == 3 { close(writer) }
            } else {
                #expect(state.contains(.hangUp))
                break
            }
        }
        #expect(count == 3)
        close(reader)
    }

    @Test("Nothing is reported while no consumer waits, so that the loop can sleep")
    func readinessIsQuiet() async throws {
        let thread = try RunLoop.Thread()
        let (reader, writer) = try makePipe()
        writeByte(writer)
        var iterator = thread.loop.readiness(of: reader).makeAsyncIterator()
        _ = try await iterator.next(isolation: nil)
        #expect(try await eventually { thread.loop.isWaiting })
        let woken = Count()
        try thread.loop.add(RunLoop.Observer(.afterWaiting) { _, _ in woken.increment() }, forMode: .default)
        usleep(20_000)
        #expect(woken.value <= 1)
        #expect(try await iterator.next(isolation: nil) == .read)
        close(reader)
        close(writer)
    }

    @Test("R23 The mode is not empty while a consumer handles the state of a descriptor, until the iteration ends")
    func readinessKeepsMode() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let mode = RunLoop.Mode("readiness")
            let (reader, writer) = try makePipe()
            writeByte(writer)
            let (notified, goOn) = (Count(), Count())
            Task {
                for try await _ in loop.readiness(of: reader, inMode: mode) {
                    notified.increment()
                    loop.wakeUp()
                    while goOn.value == 0 { await Task.yield() }
                    break
                }
            }
            #expect(waitUntil { loop.allModes.contains(mode) })
            #expect(loop.run(mode: mode, until: { notified.value == 1 }, deadline: .now + generous))
            #expect(loop.run(mode: mode, for: .milliseconds(1)) == .timedOut)
            goOn.increment()
            #expect(loop.run(mode: mode, for: generous) == .finished)
            close(reader)
            close(writer)
        }
    }

    @Test("A descriptor that cannot be waited for throws an error and ends the iteration")
    func readinessErrors() async throws {
        let thread = try RunLoop.Thread()
        var closed = thread.loop.readiness(of: .max).makeAsyncIterator()
        await #expect(throws: RunLoop.Error.badDescriptor) { _ = try await closed.next(isolation: nil) }
        #expect(try await closed.next(isolation: nil) == nil)
        var nothing = thread.loop.readiness(of: 0, for: []).makeAsyncIterator()
        await #expect(throws: RunLoop.Error.invalid) { _ = try await nothing.next(isolation: nil) }
    }
}
