import RunLoopKit
import Testing

@Suite struct RunLoopTests {
    @Test("An item isolated to the main actor that is added to another loop ends the program with a message")
    func itemsOfMainActor() async throws {
        let timer = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoop.Thread()
            try thread.loop.add(RunLoop.Timer(after: .zero, RunLoop.onMainActor { _ in }), forMode: .default)
            try await Task.sleep(for: .seconds(60))
        }
        let source = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoop.Thread()
            let source = RunLoop.Source(perform: RunLoop.onMainActor {})
            try thread.loop.add(source, forMode: .default)
            source.signal(waking: thread.loop)
            try await Task.sleep(for: .seconds(60))
        }
        let closure = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoop.Thread()
            thread.loop.perform(RunLoop.onMainActor {})
            try await Task.sleep(for: .seconds(60))
        }
        for result in [timer, source, closure] {
            let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
            #expect(text.contains("is for the loop of that actor only"))
        }
    }

    @Test("R1 A thread's loop is one object")
    func oneObject() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            #expect(loop === RunLoop.current)
            #expect(loop == RunLoop.current)
            #expect(loop.isCurrent)
            let identity = ObjectIdentifier(loop)
            #expect(identity == ObjectIdentifier(RunLoop.current))
        }
    }

    @Test("R2 The main loop is one object, and differs from another thread's loop")
    func mainLoop() async throws {
        let main = RunLoop.main
        #expect(main === RunLoop.main)
        try await withRunLoopThread {
            #expect(RunLoop.main === main)
            #expect(RunLoop.current !== main)
            #expect(RunLoop.current != main)
            #expect(!main.isCurrent)
        }
    }

    @Test("Two threads have two loops, and each finds its own in a set")
    func twoLoops() async throws {
        let first = try await withRunLoopThread { RunLoop.current }
        let second = try await withRunLoopThread { RunLoop.current }
        #expect(first != second)
        #expect(Set([first, second, first]).count == 2)
    }

    @Test("R5 The current mode is that of the innermost run")
    func currentMode() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            let timer = RunLoop.Timer(at: .now) { _ in
                trace.note(RunLoop.current.currentMode?.rawValue ?? "none")
                RunLoop.current.perform(inModes: ["inner"]) {
                    trace.note(RunLoop.current.currentMode?.rawValue ?? "none")
                }
                RunLoop.current.run(mode: "inner", for: .zero)
                trace.note(RunLoop.current.currentMode?.rawValue ?? "none")
            }
            try loop.add(timer, forMode: "outer")
            loop.run(mode: "outer")
            #expect(trace.all == ["outer", "inner", "outer"])
            #expect(loop.currentMode == nil)
        }
    }

    @Test("R10 A loop that outlives its thread refuses everything, safely")
    func outlivesThread() async throws {
        try await withRunLoopThread {
            let handed = Handed<RunLoop>()
            TestThread { handed.put(RunLoop.current) }.join()
            let loop = try #require(handed.take())
            let freed = Count()
            let accepted = loop.perform { [token = Token(freed)] in token.touch() }
            #expect(!accepted)
            #expect(freed.value == 1)
            #expect(!loop.isCurrent)
            #expect(throws: RunLoop.Error.loopFinished) {
                try loop.add(RunLoop.Timer(every: .seconds(1)) { _ in }, forMode: .default)
            }
            #expect(throws: RunLoop.Error.loopFinished) {
                try loop.add(RunLoop.Observer(.all) { _, _ in }, forMode: .common)
            }
            #expect(throws: RunLoop.Error.loopFinished) { try loop.add(RunLoop.Source {}, forMode: .default) }
            #expect(!loop.perform(after: .zero) {})
            loop.addCommonMode("late")
            loop.stop()
            loop.stop(remembered: true)
            loop.stop(inMode: .default)
            loop.wakeUp()
            #expect(loop.currentMode == nil)
            #expect(!loop.isWaiting)
            #expect(loop.nextFireDate(inMode: .default) == nil)
            #expect(!loop.description.isEmpty)
        }
    }

    @Test("A loop's object is freed when its thread has ended and the last reference is released")
    func freedAfterThread() async throws {
        try await withRunLoopThread {
            weak var loop: RunLoop?
            let handed = Handed<RunLoop>()
            let mayEnd = Handed<Bool>()
            var thread: TestThread?
            do {
                thread = TestThread {
                    handed.put(RunLoop.current)
                    _ = mayEnd.take()
                }
                loop = handed.take()
            }
            handed.clear()
            #expect(loop != nil)  // The loop keeps its object while its thread lives.
            mayEnd.put(true)
            thread?.join()
            #expect(loop == nil)
        }
    }

    @Test("The description names the modes and is not empty")
    func describesItself() async throws {
        try await withRunLoopThread {
            try RunLoop.current.add(RunLoop.Timer(after: .seconds(1000)) { _ in }, forMode: "a mode to be described")
            #expect(RunLoop.current.description.contains("a mode to be described"))
        }
    }

    @Test("R90 The next fire date of a mode is that of its earliest timer")
    func nextFireDate() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            #expect(loop.nextFireDate(inMode: .default) == nil)
            let soon = RunLoop.Instant.now + .seconds(1000)
            let late = RunLoop.Timer(at: soon + .seconds(1)) { _ in }
            let early = RunLoop.Timer(at: soon) { _ in }
            try loop.add(late, forMode: .default)
            try loop.add(early, forMode: .common)
            #expect(loop.nextFireDate(inMode: .default) == soon)
            #expect(loop.nextFireDate(inMode: .common) == nil)
            #expect(loop.nextFireDate(inMode: "unknown") == nil)
            early.nextFireDate = nil
            #expect(loop.nextFireDate(inMode: .default) == soon + .seconds(1))
            late.invalidate()
            #expect(loop.nextFireDate(inMode: .default) == nil)
        }
    }

    @Test("R148 A run is idle when it is about to sleep, and not while there is something to do")
    func idle() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let answers = Trace()
            try loop.add(RunLoop.Source {}, forMode: .default)
            let work = RunLoop.Source { answers.note("work") }
            try loop.add(work, forMode: .default)
            try loop.add(RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in work.signal() }, forMode: .default)
            let reader = RunLoop.Observer(.beforeWaiting, order: .max) { _, _ in
                answers.note(loop.isIdle ? "idle" : "busy")
                if loop.isIdle { loop.stop() }
            }
            try loop.add(reader, forMode: .default)
            #expect(loop.run(mode: .default, for: generous) == .stopped)
            #expect(answers.all == ["busy", "work", "idle"])
            #expect(!loop.isIdle)
        }
    }
}
