import RunLoopKit
import Testing

@Suite struct PerformTests {
    @Test("R102 Closures run once, in order, and the empty mode then finishes")
    func inOrder() async throws {
        try await withRunLoopThread {
            let trace = Trace()
            for number in 1...5 { RunLoop.current.perform { trace.note("\(number)") } }
            #expect(RunLoop.current.run(mode: .default) == .finished)
            #expect(RunLoop.current.run(mode: .default) == .finished)
            #expect(trace.all == ["1", "2", "3", "4", "5"])
        }
    }

    @Test("A closure performed from another thread wakes the sleeping loop")
    func wakesLoop() async throws {
        try await withRunLoopThread {
            try withLoopElsewhere { loop in
                #expect(waitUntil { loop.isWaiting })
                let ran = Handed<Bool>()
                let accepted = loop.perform { ran.put(loop.isCurrent) }
                #expect(accepted)
                #expect(ran.take() == true)
            }
        }
    }

    @Test("R101 A closure for several modes is called once, in the mode that runs first")
    func severalModes() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            loop.perform(inModes: ["a", "b"]) { trace.note(RunLoop.current.currentMode?.rawValue ?? "none") }
            #expect(loop.run(mode: .default, for: .zero) == .finished)
            loop.run(mode: "b", for: .zero)
            loop.run(mode: "a", for: .zero)
            #expect(trace.all == ["b"])
        }
    }

    @Test("R101 A closure for the common modes runs in any of them")
    func commonModes() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            loop.addCommonMode("c")
            loop.perform(inModes: [.common]) { trace.note("ran") }
            loop.run(mode: "c", for: .zero)
            #expect(trace.all == ["ran"])
        }
    }

    @Test("R101 What names no mode happens in every common mode, and in no other")
    func defaultModes() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            loop.addCommonMode("c")
            loop.perform { trace.note("closure") }
            loop.perform(after: .zero) { trace.note("delayed closure") }
            let timeout = RunLoop.Timeout(on: loop, after: .zero) { trace.note("timeout") }
            let keepAlive = try RunLoop.KeepAlive(on: loop, inMode: "c")
            defer { keepAlive.invalidate() }
            Task { try await loop.performAndWait { trace.note("awaited closure") } }
            #expect(loop.run(mode: "private", for: generous) == .finished)
            #expect(trace.all == [])
            #expect(loop.run(mode: "c", until: { trace.all.count == 4 }, deadline: .now + generous))
            let isOver = !timeout.isValid
            #expect(isOver)
        }
    }

    @Test("A closure for no mode never runs and is freed with the loop")
    func noMode() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let ran = Count()
            TestThread {
                let token = Token(freed)
                RunLoop.current.perform(inModes: []) {
                    token.touch()
                    ran.increment()
                }
                RunLoop.current.run(mode: .default, for: .zero)
            }.join()
            #expect(freed.value == 1)
            #expect(ran.value == 0)
        }
    }

    @Test("R8 R105 A closure is freed once: after its call, or without a call with the loop")
    func freedOnce() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let unused = Count()
            TestThread {
                let loop = RunLoop.current
                do {
                    let token = Token(freed)
                    loop.perform { token.touch() }
                }
                do {
                    let token = Token(unused)
                    loop.perform(inModes: ["never run"]) { token.touch() }
                }
                #expect(freed.value == 0)
                loop.run(mode: .default)
                #expect(freed.value == 1)
                #expect(unused.value == 0)
            }.join()
            #expect(freed.value == 1)
            #expect(unused.value == 1)
        }
    }

    @Test("State that is not Sendable may be sent")
    func stateHandedOver() async throws {
        final class Plain { var number = 1 }
        try await withRunLoopThread {
            let plain = Plain()
            let seen = Trace()
            RunLoop.current.perform {
                plain.number += 1
                seen.note("\(plain.number)")
            }
            RunLoop.current.run()
            #expect(seen.all == ["2"])
        }
    }

    @Test("A delayed closure runs once, not before its delay")
    func delayed() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let ran = Count()
            let delay = Duration.milliseconds(15)
            let start = RunLoop.Instant.now
            loop.perform(after: delay) { ran.increment() }
            #expect(loop.run(mode: .default) == .finished)
            #expect(RunLoop.Instant.now - start >= delay)
            #expect(ran.value == 1)
        }
    }

    @Test("A delayed closure for two modes runs once")
    func delayedInTwoModes() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let ran = Count()
            loop.perform(after: .zero, inModes: ["a", "b"]) { ran.increment() }
            #expect(loop.run(mode: "b", for: generous) == .finished)
            #expect(loop.run(mode: "a", for: generous) == .finished)
            #expect(ran.value == 1)
        }
    }
}
