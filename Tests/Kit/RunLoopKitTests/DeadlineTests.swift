import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

@Suite struct DeadlineTests {
    @Test("R152 A source is called for its deadline alone, once and not before it")
    func alone() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let seen = Trace()
            let source = try RunLoop.Source(fileDescriptor: -1) { reasons in seen.note("\(reasons)") }
            #expect(source.deadline == nil)
            let deadline = RunLoop.Instant.now + .milliseconds(5)
            source.deadline = deadline
            #expect(source.deadline == deadline)
            try loop.add(source, forMode: .default)
            #expect(loop.nextFireDate(inMode: .default) == deadline)
            #expect(loop.run(mode: .default, for: generous, returnAfterSourceHandled: true) == .handledSource)
            #expect(.now >= deadline)
            #expect(seen.all == ["due"])
            #expect(source.deadline == nil)
            #expect(loop.run(mode: .default, for: .milliseconds(1)) == .timedOut)
            #expect(seen.all == ["due"])
            source.invalidate()
        }
    }

    @Test("R152 A deadline, a signal and what the descriptor has are one call")
    func withReadiness() async throws {
        try await withRunLoopThread {
            try withPipe { reader, writer in
                let seen = Trace()
                let source = try RunLoop.Source(fileDescriptor: reader) { reasons in
                    seen.note("\(reasons)")
                    readByte(reader)
                }
                try RunLoop.current.add(source, forMode: .default)
                writeByte(writer)
                source.signal()
                source.deadline = .now
                #expect(RunLoop.current.runPass() == .handledSource)
                #expect(seen.all == ["[read, signalled, due]"])
                source.invalidate()
            }
        }
    }

    @Test("R152 A deadline is taken back, also after it has passed, and replaced in its own call")
    func takenBack() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let seen = Trace()
            let slot = Handed<RunLoop.Source>()
            let source = try RunLoop.Source(fileDescriptor: -1) { reasons in
                seen.note("\(reasons)")
                guard let source = slot.take() else { return }
                slot.put(source)
                let isFirst = seen.all.count == 1
                source.deadline = isFirst ? .now : nil
            }
            slot.put(source)
            try loop.add(source, forMode: .default)
            source.deadline = .now - .seconds(1)
            source.deadline = nil
            #expect(source.deadline == nil)
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(seen.all == [])
            source.deadline = .now - .seconds(1)
            for _ in 0..<4 { loop.run(mode: .default, for: .zero) }
            #expect(seen.all == ["due", "due"])
            slot.clear()
            source.invalidate()
        }
    }

    @Test("R152 Another thread sets and moves the deadline of a loop that sleeps")
    func fromAnotherThread() async throws {
        try await withRunLoopThread {
            try withLoopElsewhere { loop in
                let called = Handed<Bool>()
                let source = try RunLoop.Source(fileDescriptor: -1) { reasons in
                    called.put(loop.isCurrent && reasons == .due)
                }
                source.deadline = .now + .seconds(3600)
                try loop.add(source, forMode: .default)
                #expect(waitUntil { loop.isWaiting })
                let deadline = RunLoop.Instant.now + .milliseconds(5)
                source.deadline = deadline
                #expect(called.take() == true)
                #expect(.now >= deadline)
                source.invalidate()
            }
        }
    }

    @Test("R152 A paused source, and one with the deadline of a mode that does not run, keep it")
    func pausedAndElsewhere() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try withPipe { reader, writer in
                let seen = Trace()
                let source = try RunLoop.Source(fileDescriptor: reader) { reasons in seen.note("\(reasons)") }
                try source.watch(for: [])
                source.deadline = .now
                writeByte(writer)
                try loop.add(source, forMode: "other")
                try loop.add(RunLoop.Source {}, forMode: .default)
                #expect(loop.run(mode: .default, for: .milliseconds(1)) == .timedOut)
                #expect(seen.all == [] && source.deadline != nil)
                loop.run(mode: "other", for: .zero)
                #expect(seen.all == ["due"])
                source.invalidate()
            }
        }
    }

    @Test("A deadline of a source that cannot have one ends the program; an invalid one ignores it")
    func refused() async throws {
        await #expect(processExitsWith: .failure) { RunLoop.Source {}.deadline = .now }
        await #expect(processExitsWith: .failure) { try RunLoop.Source(signal: SIGWINCH) { _ in }.deadline = .now }
        let source = try RunLoop.Source(fileDescriptor: -1) { _ in }
        source.invalidate()
        source.deadline = .now
        #expect(source.deadline == nil)
    }
}
