import Glibc
import RunLoopKit
import Testing

@Suite struct PassTests {
    @Test("R151 A pass waits once and serves several sources and timers, each once, with their reasons")
    func servesAll() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let pipes = try (0..<3).map { _ in try makePipe() }
            let seen = Trace()
            // None takes its byte, so each is ready still when the others have been called.
            let sources = try pipes.enumerated().map { number, pipe in
                try RunLoop.Source(fileDescriptor: pipe.reader) { reasons in seen.note("\(number) \(reasons)") }
            }
            for source in sources { try loop.add(source, forMode: .default) }
            try loop.add(RunLoop.Timer(after: .zero) { _ in seen.note("timer") }, forMode: .default)
            let waits = Count()
            try loop.add(RunLoop.Observer(.beforeWaiting) { _, _ in waits.increment() }, forMode: .default)
            for pipe in pipes { writeByte(pipe.writer) }
            #expect(loop.runPass(waitingAtMost: generous) == .handledSource)
            #expect(seen.all.first == "timer")
            #expect(seen.all.dropFirst().sorted() == ["0 read", "1 read", "2 read"])
            #expect(waits.value == 1)
            // An iteration of any other run serves one of them.
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(seen.all.count == 5)
            for source in sources { source.invalidate() }
            for pipe in pipes {
                close(pipe.reader)
                close(pipe.writer)
            }
        }
    }

    @Test("R151 A pass reports that it served nothing, was stopped, had nothing to wait for, or served a timer")
    func results() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            #expect(loop.runPass(waitingAtMost: generous) == .finished)
            #expect(loop.runPass(mode: .common) == .finished)
            try loop.add(RunLoop.Source {}, forMode: .default)
            #expect(loop.runPass() == .timedOut)
            let start = RunLoop.Instant.now
            #expect(loop.runPass(waitingAtMost: .milliseconds(3)) == .timedOut)
            #expect(.now - start >= .milliseconds(3))
            loop.stop(remembered: true)
            #expect(loop.runPass(waitingAtMost: generous) == .stopped)
            let performed = Count()
            loop.perform { performed.increment() }
            #expect(loop.runPass(waitingAtMost: generous) == .timedOut)
            #expect(performed.value == 1)
            try loop.add(RunLoop.Timer(after: .milliseconds(2)) { _ in performed.increment() }, forMode: .default)
            #expect(loop.runPass(waitingAtMost: nil) == .handledSource)
            #expect(performed.value == 2)
        }
    }

    @Test("R151 A pass in another mode leaves the sources of this one alone, and a pass may be nested in one")
    func nested() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let seen = Trace()
            let inner = RunLoop.Source { seen.note("inner") }
            let outer = RunLoop.Source {
                inner.signal()
                seen.note("outer \(loop.runPass(mode: "inner") == .handledSource)")
            }
            try loop.add(inner, forMode: "inner")
            try loop.add(outer, forMode: .default)
            outer.signal()
            #expect(loop.runPass(mode: "inner") == .timedOut)
            #expect(loop.runPass() == .handledSource)
            #expect(seen.all == ["inner", "outer true"])
        }
    }
}
