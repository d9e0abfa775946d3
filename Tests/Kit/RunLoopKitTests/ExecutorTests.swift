import Dispatch
import Glibc
import RunLoopKit
import RunLoopKitTesting
import Testing

@Suite struct ExecutorTests {
    @Test("R105 A job that is added in a nested run runs there, also after a batch that took jobs before their post")
    func nestedRunAfterBatch() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            let keepAlive = try RunLoop.KeepAlive(on: loop)
            @Sendable func nest() {
                trace.note("outer")
                loop.perform { Task(executorPreference: loop.taskExecutor) { trace.note("nested") } }
                #expect(loop.run(until: { trace.all.contains("nested") }, deadline: .now + generous))
            }
            // In the run, whose beginning posts what there is.
            loop.perform {
                Task(executorPreference: loop.taskExecutor) {
                    trace.note("first")
                    loop.perform { nest() }
                    // Its post comes after the closure, in the same drain, but this batch runs it.
                    Task(executorPreference: loop.taskExecutor) { trace.note("second") }
                }
            }
            #expect(loop.run(until: { trace.all.contains("nested") }, deadline: .now + generous))
            #expect(trace.all == ["first", "second", "outer", "nested"])
            keepAlive.invalidate()
        }
    }

    @Test("A bound actor has the executor of its loop")
    func boundActor() async throws {
        let thread = try RunLoop.Thread()
        let actor = PlaceOnLoop(on: thread.loop)
        #expect(await actor.isOnThread)
        #expect(await thread.performAndWait { actor.assumeIsolated { $0.isOnThread } })
    }

    @Test("Closures can be isolated to a bound actor; its timers end when it is gone")
    func boundItems() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let (reader, writer) = try makePipe()
        let trace = Trace()
        var actor: PlaceOnLoop? = PlaceOnLoop(on: loop)
        let (once, often, ticks, dated, signalled, readable) = try #require(
            try actor.map { actor in
                (
                    RunLoop.Timer(after: .zero, actor.isolated { place, _ in place.note("once", in: trace) }),
                    RunLoop.Timer(
                        after: .zero, every: .milliseconds(1),
                        actor.isolated { place, timer in
                            place.note("often \(timer.isValid)", in: trace)
                        }),
                    RunLoop.Timer(
                        every: .milliseconds(1),
                        actor.isolated { place, _ in
                            place.note("ticks", in: trace)
                        }),
                    RunLoop.Timer(at: .now, actor.isolated { place, _ in place.note("dated", in: trace) }),
                    RunLoop.Source(perform: actor.isolated { place in place.note("signalled", in: trace) }),
                    try RunLoop.Source(
                        fileDescriptor: reader,
                        perform: actor.isolated { place, events in
                            readByte(reader)
                            place.note("readable \(events == .read)", in: trace)
                        })
                )
            })
        for timer in [once, often, ticks, dated] { try loop.add(timer, forMode: .common) }
        for source in [signalled, readable] { try loop.add(source, forMode: .common) }
        signalled.signal(waking: loop)
        writeByte(writer)
        let expected: Set = ["once", "often true", "ticks", "dated", "signalled", "readable true"]
        #expect(try await eventually { Set(trace.all) == expected })
        actor = nil
        #expect(try await eventually { !often.isValid && !ticks.isValid })
        for source in [signalled, readable] { source.invalidate() }
        close(reader)
        close(writer)
        await #expect(processExitsWith: .failure) {
            let (thread, other) = (try RunLoop.Thread(), try RunLoop.Thread())
            let actor = PlaceOnLoop(on: thread.loop)
            try other.loop.add(RunLoop.Timer(after: .zero, actor.isolated { _, _ in }), forMode: .common)
            try await Task.sleep(for: .seconds(60))
        }
    }

    @Test("An actor on a loop runs on the loop's thread, and comes back to it after an await")
    func actorRunsOnThread() async throws {
        let thread = try RunLoop.Thread()
        let counter = Counter(thread.loop)
        #expect(await counter.add(1) == 1)
        #expect(await counter.addAfterAwait(2) == 3)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { _ = await counter.add(1) } }
        }
        #expect(await counter.add(0) == 203)
        #expect(await counter.alwaysOnThread)
    }

    @Test("Jobs run in the order in which they were added")
    func jobsInOrder() async throws {
        let thread = try RunLoop.Thread()
        let counter = Counter(thread.loop)
        let gate = DispatchSemaphore(value: 0)
        let trace = Trace()
        thread.perform { gate.wait() }
        var tasks: [Task<Void, Never>] = []
        for number in 0..<20 {
            // An immediate task adds its job before it returns here.
            tasks.append(Task.immediateDetached { await counter.note("\(number)", in: trace) })
        }
        gate.signal()
        for task in tasks { await task.value }
        #expect(trace.all == (0..<20).map(String.init))
    }

    @Test("Every call-out of the loop is isolated to its actors, and no other thread is")
    func isolationInCallOuts() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let counter = Counter(loop)
        let trace = Trace()
        let (reader, writer) = try makePipe()
        let source = RunLoop.Source { counter.check("source", trace) }
        let descriptor = try RunLoop.Source(fileDescriptor: reader) { _ in
            readByte(reader)
            counter.check("descriptor", trace)
        }
        try loop.add(source, forMode: .default)
        try loop.add(descriptor, forMode: .default)
        try loop.add(
            RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in counter.check("observer", trace) },
            forMode: .default
        )
        try loop.add(
            RunLoop.Timer(after: .zero) { _ in
                counter.check("timer", trace)
                writeByte(writer)
            }, forMode: .default)
        source.signal()
        loop.perform { counter.check("performed", trace) }
        let all: Set = ["source", "descriptor", "observer", "timer", "performed"]
        #expect(try await eventually { Set(trace.all) == all })
        #expect(loop.executor.isIsolatingCurrentContext() == false)
        source.invalidate()
        descriptor.invalidate()
        close(reader)
        close(writer)
    }

    @Test("An actor's method on another thread is refused as not isolated")
    func refusesOtherThread() async throws {
        let thread = try RunLoop.Thread()
        #expect(thread.loop.executor.isIsolatingCurrentContext() == false)
        let inside = await Counter(thread.loop).isIsolated
        #expect(inside == true)
    }

    @Test("A loop has one executor for actors and one for tasks")
    func oneEach() async throws {
        let thread = try RunLoop.Thread()
        #expect(thread.loop.executor === thread.loop.executor)
        #expect(thread.loop.taskExecutor === thread.loop.taskExecutor)
        #expect(thread.loop.makeExecutor(inModes: [.common]) !== thread.loop.executor)
    }

    @Test("A task that prefers a loop runs on its thread, and is back there after every await")
    func taskPreference() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let places = await Task(executorPreference: loop.taskExecutor) {
            var places = [loop.isCurrent]
            await Task.yield()
            places.append(loop.isCurrent)
            try? await Task.sleep(for: .milliseconds(1))
            places.append(loop.isCurrent)
            return places
        }.value
        #expect(places == [true, true, true])
        let nested = await withTaskExecutorPreference(loop.taskExecutor) {
            await Task.yield()
            return isCurrent(loop)
        }
        #expect(nested)
        #expect(!loop.isCurrent)
    }

    @Test("R101 Jobs of an executor for some modes wait for those modes")
    func chosenModes() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let executor = loop.makeExecutor(inModes: ["private"])
        let counter = Counter(loop, executor)
        let trace = Trace()
        let task = Task.immediateDetached { await counter.note("job", in: trace) }
        try await withRunLoopThread { thread.performAndWait { trace.note("default") } }
        thread.perform {
            trace.note("entering private")
            try? loop.add(RunLoop.Source {}, forMode: "private")
            while trace.all.last != "job" { loop.run(mode: "private", for: .milliseconds(10)) }
        }
        await task.value
        #expect(trace.all == ["default", "entering private", "job"])
    }

    @Test("A due timer waits for some hundred jobs, not for all that there are, or that keep coming")
    func timerAmongJobs() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let counter = Counter(loop)
        let gate = DispatchSemaphore(value: 0)
        let seen = Handed<Int>()
        thread.perform {
            gate.wait()
            try! loop.add(
                RunLoop.Timer(after: .zero) { _ in counter.assumeIsolated { seen.put($0.add(0)) } }, forMode: .common)
        }
        let jobs = (0..<3000).map { _ in Task.immediateDetached { _ = await counter.add(1) } }
        let endless = Task(executorPreference: loop.taskExecutor) { while !Task.isCancelled { await Task.yield() } }
        gate.signal()
        let before = try #require(try await withRunLoopThread { seen.take() })
        #expect(before <= 3 * 256)
        for job in jobs { await job.value }
        endless.cancel()
        #expect(await counter.add(0) == 3000)
    }

    @Test("R105 A run nested in a job or in a performed closure runs the other jobs")
    func nestedRuns() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let counter = Counter(loop)
        let gate = DispatchSemaphore(value: 0)
        let trace = Trace()
        thread.perform { gate.wait() }
        // Both jobs are queued when the first one begins.
        let first = Task.immediateDetached { await counter.runNested(until: "second", in: trace) }
        let second = Task.immediateDetached { await counter.note("second", in: trace) }
        gate.signal()
        await first.value
        await second.value
        #expect(trace.all == ["nested run begins", "second", "nested run ends"])

        let other = Handed<Bool>()
        thread.perform { gate.wait() }
        thread.perform {
            while !trace.all.contains("third") { loop.run(mode: .default, for: .milliseconds(10)) }
            other.put(true)
        }
        let third = Task.immediateDetached { await counter.note("third", in: trace) }
        gate.signal()
        await third.value
        let arrived = try await withRunLoopThread { other.take() }
        #expect(arrived == true)
    }

    @Test("R105 A nested run in a mode that was declared common runs jobs, one in another mode does not")
    func nestedModes() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let counter = Counter(loop)
        let trace = Trace()
        let gate = DispatchSemaphore(value: 0)
        let keep = RunLoop.Source {}
        for mode: RunLoop.Mode in ["dialog", "private"] { try loop.add(keep, forMode: mode) }
        loop.addCommonMode("dialog")
        thread.perform {
            gate.wait()
            loop.run(mode: "private", for: .milliseconds(20))
            trace.note("private ends")
            loop.run(mode: "dialog", until: { trace.all.contains("second") }, deadline: .now + generous)
            trace.note("dialog ends")
        }
        // One job is queued before the nested runs begin, the other one while a run sleeps.
        let first = Task.immediateDetached { await counter.note("first", in: trace) }
        gate.signal()
        let isInDialog = try await withRunLoopThread { waitUntil { loop.currentMode == "dialog" && loop.isWaiting } }
        #expect(isInDialog)
        let second = Task.immediateDetached { await counter.note("second", in: trace) }
        await first.value
        await second.value
        try await withRunLoopThread { thread.performAndWait {} }
        #expect(trace.all == ["private ends", "first", "second", "dialog ends"])
        keep.invalidate()
    }

    @Test("Calls between actors of one executor are not enqueued, those between two executors are")
    func callsWithoutSwitch() async throws {
        let thread = try RunLoop.Thread()
        let trace = Trace()
        let counter = Counter(thread.loop)
        let sibling = Counter(thread.loop)
        let other = Counter(thread.loop, thread.loop.makeExecutor(inModes: [.common]))
        await counter.call(sibling, "sibling", in: trace)
        await counter.call(other, "other", in: trace)
        try await withRunLoopThread { thread.performAndWait {} }
        #expect(trace.all == ["sibling", "another iteration", "another iteration", "other"])
    }

    @Test("Call-outs in custom modes are isolated too, and so are those of a source's additions and removals")
    func isolationInCustomModes() async throws {
        let trace = Trace()
        try await withRunLoop { loop in
            let counter = Counter(loop, loop.makeExecutor(inModes: ["private"]))
            let source = RunLoop.Source(
                onSchedule: { _, _ in counter.check("scheduled", trace) },
                onCancel: { _, _ in counter.check("cancelled", trace) },
                perform: { counter.check("source", trace) })
            try loop.add(source, forMode: "private")
            try loop.add(RunLoop.Timer(after: .zero) { _ in counter.check("timer", trace) }, forMode: "private")
            try loop.add(RunLoop.Observer(.entry) { _, _ in counter.check("observer", trace) }, forMode: "private")
            loop.perform(inModes: ["private"]) { counter.check("performed", trace) }
            source.signal()
            loop.run(mode: "private", for: .zero)
            source.invalidate()
            counter.check("outside a run", trace)
        }
        #expect(
            trace.all == [
                "scheduled", "observer", "performed", "source", "timer", "cancelled", "outside a run",
            ])
    }

    @Test("Every job runs when the thread ends, and those that they add do too")
    func jobsAtEnd() async throws {
        for _ in 0..<20 {
            let thread = try RunLoop.Thread()
            let never = Counter(thread.loop, thread.loop.makeExecutor(inModes: ["never run"]))
            let other = Counter(thread.loop)
            let trace = Trace()
            let gate = DispatchSemaphore(value: 0)
            thread.perform { gate.wait() }
            let tasks = (0..<10).map { number in
                Task.immediateDetached { await never.note("a\(number)", in: trace, hoppingTo: other) }
            }
            thread.stop()
            gate.signal()
            for task in tasks { #expect(await task.value) }
            #expect(trace.all.count == 10)
            try await withRunLoopThread { thread.join() }
            #expect(trace.all == (0..<10).map { "a\($0)" })
        }
    }

    @Test("A job for a thread that has ended ends the program with a message")
    func jobAfterEnd() async throws {
        await #expect(processExitsWith: .failure) {
            let thread = try RunLoop.Thread()
            let counter = Counter(thread.loop)
            thread.stop()
            TestThread { thread.join() }.join()
            _ = await counter.add(1)
        }
    }
}

private func isCurrent(_ loop: RunLoop) -> Bool { loop.isCurrent }

/// An actor on a loop.
private actor Counter {
    private let loop: RunLoop
    private let executor: any SerialExecutor
    private var count = 0
    private(set) var alwaysOnThread = true

    init(_ loop: RunLoop, _ executor: (any SerialExecutor)? = nil) {
        self.loop = loop
        self.executor = executor ?? loop.executor
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    var isIsolated: Bool? { executor.isIsolatingCurrentContext() }

    func add(_ number: Int) -> Int {
        if !loop.isCurrent { alwaysOnThread = false }
        count += number
        return count
    }

    func addAfterAwait(_ number: Int) async -> Int {
        await Task.detached {}.value
        return add(number)
    }

    func note(_ line: String, in trace: Trace, hoppingTo other: Counter) async -> Bool {
        trace.note(line)
        _ = await other.add(1)
        return loop.isCurrent
    }

    func note(_ line: String, in trace: Trace) {
        trace.note(line)
    }

    nonisolated func check(_ line: String, _ trace: Trace) {
        assumeIsolated { counter in
            counter.preconditionIsolated()
            _ = counter.add(1)
            trace.note(line)
        }
    }

    func call(_ other: Counter, _ line: String, in trace: Trace) async {
        loop.perform { trace.note("another iteration") }
        await other.note(line, in: trace)
    }

    func runNested(until line: String, in trace: Trace) {
        trace.note("nested run begins")
        while !trace.all.contains(line) { runOnce() }
        trace.note("nested run ends")
    }

    private func runOnce() {
        loop.run(mode: .default, for: .milliseconds(10))
    }
}

private actor PlaceOnLoop: RunLoop.BoundActor {
    nonisolated let loop: RunLoop
    var isOnThread: Bool { loop.isCurrent }
    func note(_ line: String, in trace: Trace) { trace.note(isOnThread ? line : "elsewhere") }

    init(on loop: RunLoop) {
        self.loop = loop
    }
}
