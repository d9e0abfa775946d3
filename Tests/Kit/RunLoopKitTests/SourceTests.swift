import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

@Suite struct SourceTests {
    @Test("A source has the properties that it was made with")
    func asMade() throws {
        let signal = RunLoop.Source(order: 3) {}
        #expect(signal.order == 3)
        #expect(signal.fileDescriptor == nil)
        #expect(signal.events == [])
        #expect(signal.isValid)
        #expect(!signal.isSignalled)
        try withPipe { reader, _ in
            let source = try RunLoop.Source(fileDescriptor: reader, events: [.read, .hangUp], order: -2) { _ in }
            #expect(source.fileDescriptor == reader)
            #expect(source.events == [.read, .hangUp])
            #expect(source.order == -2)
            source.invalidate()
            #expect(!source.isValid)
            #expect(source.fileDescriptor == reader)
        }
    }

    @Test("R149 The conditions of a source can be changed, in its own closure too")
    func watchesForOthers() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try withPipe { reader, writer in
                let seen = Trace()
                let slot = Handed<RunLoop.Source>()
                let source = try RunLoop.Source(fileDescriptor: writer, events: .error) { events in
                    seen.note("\(events)")
                    #expect(throws: Never.self) { try slot.take()?.watch(for: .error) }
                }
                slot.put(source)
                try loop.add(source, forMode: .default)
                #expect(loop.run(mode: .default, for: .milliseconds(1)) == .timedOut)
                try source.watch(for: [.error, .write])
                #expect(source.events == [.error, .write])
                #expect(loop.run(mode: .default, for: generous, returnAfterSourceHandled: true) == .handledSource)
                #expect(source.events == .error)
                #expect(loop.run(mode: .default, for: .milliseconds(1)) == .timedOut)
                #expect(seen.all == ["\(RunLoop.Source.Readiness.write)"])
                slot.clear()
                source.invalidate()
            }
        }
    }

    @Test("R149 A source without conditions is paused, and goes on with what it missed")
    func pause() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try withPipe { reader, writer in
                let called = Count()
                let source = try RunLoop.Source(fileDescriptor: reader) { _ in called.increment() }
                try loop.add(source, forMode: .default)
                writeByte(writer)
                try source.watch(for: [])
                #expect(loop.run(mode: .default, for: .milliseconds(1)) == .timedOut && called.value == 0)
                try source.watch(for: .read)
                #expect(loop.run(mode: .default, for: generous, returnAfterSourceHandled: true) == .handledSource)
                #expect(called.value == 1)
                source.invalidate()
            }
        }
    }

    @Test("R149 A source without conditions to set refuses them, and is unchanged")
    func watchRefused() throws {
        try withPipe { reader, _ in
            let source = try RunLoop.Source(fileDescriptor: reader) { _ in }
            #expect(throws: RunLoop.Error.invalid) { try source.watch(for: .init(rawValue: 1 << 20)) }
            #expect(source.events == .read)
            source.invalidate()
            #expect(throws: RunLoop.Error.invalid) { try source.watch(for: .write) }
            #expect(source.events == .read)
        }
        #expect(throws: RunLoop.Error.invalid) { try RunLoop.Source {}.watch(for: .read) }
        let signal = try RunLoop.Source(signal: SIGWINCH) { _ in }
        #expect(throws: RunLoop.Error.invalid) { try signal.watch(for: .read) }
        signal.invalidate()
        let counter = try makeCounter()
        #expect(throws: RunLoop.Error.invalid) { try RunLoop.Source(counter: counter) {}.watch(for: .read) }
        close(counter)
    }

    @Test("R62 A signal marks the source until it performs, and several are one")
    func signalMarks() async throws {
        try await withRunLoopThread {
            let performed = Count()
            let source = RunLoop.Source { performed.increment() }
            source.signal()
            source.signal()
            #expect(source.isSignalled)
            try RunLoop.current.add(source, forMode: .default)
            RunLoop.current.run(mode: .default, for: .zero)
            #expect(performed.value == 1)
            #expect(!source.isSignalled)
        }
    }

    @Test("R54 A signal does not wake, a wake-up after it does")
    func signalAndWakeUp() async throws {
        try await withRunLoopThread {
            try withLoopElsewhere { loop in
                let performed = Handed<Bool>()
                let source = RunLoop.Source { performed.put(loop.isCurrent) }
                try loop.add(source, forMode: .default)
                #expect(waitUntil { loop.isWaiting })
                source.signal()
                #expect(source.isSignalled)
                loop.wakeUp()
                #expect(performed.take() == true)
            }
        }
    }

    @Test("R58 R59 A source is notified of every mode that it is added to and removed from")
    func scheduleAndCancel() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            let source = RunLoop.Source(
                onSchedule: { trace.note("+ \($1) \($0 === RunLoop.current)") },
                onCancel: { trace.note("- \($1) \($0 === RunLoop.current)") },
                perform: {})
            try loop.add(source, forMode: "a")
            try loop.add(source, forMode: "a")
            loop.remove(source, forMode: "a")
            loop.remove(source, forMode: "a")
            try loop.add(source, forMode: "b")
            source.invalidate()
            #expect(trace.all == ["+ a true", "- a true", "+ b true", "- b true"])
            #expect(throws: RunLoop.Error.invalid) { try loop.add(source, forMode: "a") }
            source.signal()
            #expect(!source.isSignalled)
        }
    }

    @Test("R8 A thread that ends cancels its sources, which get the loop's object")
    func cancelledByThread() async throws {
        try await withRunLoopThread {
            let handed = Handed<RunLoop>()
            let trace = Trace()
            TestThread {
                let source = RunLoop.Source(
                    onCancel: { loop, mode in trace.note("\(mode) \(loop === handed.take())") }, perform: {})
                try? RunLoop.current.add(source, forMode: .default)
                handed.put(RunLoop.current)
            }.join()
            #expect(trace.all == ["kCFRunLoopDefaultMode true"])
        }
    }

    @Test("A source may be in several loops")
    func severalLoops() async throws {
        try await withRunLoopThread {
            try withLoopElsewhere { first in
                try withLoopElsewhere { second in
                    let performed = Count()
                    let source = RunLoop.Source { performed.increment() }
                    try first.add(source, forMode: .default)
                    try second.add(source, forMode: .default)
                    #expect(first.contains(source, inMode: .default) && second.contains(source, inMode: .default))
                    source.signal()
                    first.wakeUp()
                    second.wakeUp()
                    #expect(waitUntil { performed.value == 1 })
                    source.invalidate()
                    #expect(!first.contains(source, inMode: .default) && !second.contains(source, inMode: .default))
                }
            }
        }
    }

    @Test("A descriptor source is called as long as there is something to read")
    func levelTriggered() async throws {
        try await withRunLoopThread {
            try withPipe { reader, writer in
                let trace = Trace()
                let source = try RunLoop.Source(fileDescriptor: reader) { readiness in
                    trace.note("\(readiness == .read) \(readByte(reader))")
                }
                try RunLoop.current.add(source, forMode: .default)
                for _ in 0..<3 { writeByte(writer) }
                for _ in 0..<3 {
                    #expect(
                        RunLoop.current.run(mode: .default, for: generous, returnAfterSourceHandled: true)
                            == .handledSource)
                }
                #expect(RunLoop.current.run(mode: .default, for: .zero, returnAfterSourceHandled: true) == .timedOut)
                #expect(trace.all == ["true true", "true true", "true true"])
                RunLoop.current.remove(source, forMode: .default)
            }
        }
    }

    @Test("A descriptor that becomes ready wakes the sleeping loop")
    func descriptorWakes() async throws {
        try await withRunLoopThread {
            try withPipe { reader, writer in
                try withLoopElsewhere { loop in
                    let called = Handed<Bool>()
                    let source = try RunLoop.Source(fileDescriptor: reader) { _ in
                        readByte(reader)
                        called.put(loop.isCurrent)
                    }
                    try loop.add(source, forMode: .common)
                    #expect(waitUntil { loop.isWaiting })
                    writeByte(writer)
                    #expect(called.take() == true)
                    source.invalidate()
                }
            }
        }
    }

    @Test("A hang-up is reported even if only reading was requested")
    func hangUp() async throws {
        try await withRunLoopThread {
            let (reader, writer) = try makePipe()
            close(writer)
            let seen = Handed<RunLoop.Source.Readiness>()
            let source = try RunLoop.Source(fileDescriptor: reader) { seen.put($0) }
            try RunLoop.current.add(source, forMode: .default)
            RunLoop.current.run(mode: .default, for: generous, returnAfterSourceHandled: true)
            #expect(seen.take()?.contains(.hangUp) == true)
            source.invalidate()
            close(reader)
        }
    }

    @Test("A pipe with free space can be written")
    func writable() async throws {
        try await withRunLoopThread {
            try withPipe { _, writer in
                let seen = Handed<RunLoop.Source.Readiness>()
                let source = try RunLoop.Source(fileDescriptor: writer, events: .write) { seen.put($0) }
                try RunLoop.current.add(source, forMode: .default)
                RunLoop.current.run(mode: .default, for: generous, returnAfterSourceHandled: true)
                #expect(seen.take() == .write)
                source.invalidate()
            }
        }
    }

    @Test("R69 A counter is read before the call, so several writes are one")
    func counter() async throws {
        try await withRunLoopThread {
            let descriptor = try makeCounter()
            defer { close(descriptor) }
            let called = Count()
            let source = try RunLoop.Source(counter: descriptor) { called.increment() }
            try RunLoop.current.add(source, forMode: .default)
            for _ in 0..<3 { addToCounter(descriptor) }
            #expect(
                RunLoop.current.run(mode: .default, for: generous, returnAfterSourceHandled: true) == .handledSource)
            #expect(RunLoop.current.run(mode: .default, for: .zero, returnAfterSourceHandled: true) == .timedOut)
            #expect(called.value == 1)
            #expect(readCounter(descriptor) == nil)
            source.invalidate()
        }
    }

    @Test("R68 A source without a descriptor keeps a mode from being empty")
    func noDescriptor() async throws {
        try await withRunLoopThread {
            let source = try RunLoop.Source(fileDescriptor: -1) { _ in }
            #expect(source.fileDescriptor == nil)
            try RunLoop.current.add(source, forMode: .default)
            #expect(RunLoop.current.run(mode: .default, for: .milliseconds(1)) == .timedOut)
        }
    }

    @Test("A descriptor that cannot be waited for is refused with the reason, and nothing is added")
    func refusedAdditions() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
            try #require(file >= 0)
            defer { close(file) }
            let regular = try RunLoop.Source(fileDescriptor: file) { _ in }
            #expect(throws: RunLoop.Error.permissionDenied) { try loop.add(regular, forMode: "refused") }
            #expect(!loop.contains(regular, inMode: "refused"))
            let closed = try RunLoop.Source(fileDescriptor: 1_000_000) { _ in }
            #expect(throws: RunLoop.Error.badDescriptor) { try loop.add(closed, forMode: "refused") }
            #expect(throws: RunLoop.Error.badDescriptor) { try loop.add(closed, forMode: .common) }
            #expect(loop.allModes == [.default])
        }
    }

    @Test("Invalid parameters are refused when the source is made, and its closure is freed")
    func refusedSources() throws {
        let freed = Count()
        #expect(throws: RunLoop.Error.invalid) {
            let token = Token(freed)
            _ = try RunLoop.Source(fileDescriptor: 0, events: []) { _ in token.touch() }
        }
        #expect(throws: RunLoop.Error.invalid) {
            _ = try RunLoop.Source(fileDescriptor: 0, events: .init(rawValue: 0x4000_0000)) { _ in }
        }
        #expect(throws: RunLoop.Error.invalid) { _ = try RunLoop.Source(fileDescriptor: -2) { _ in } }
        try withPipe { reader, _ in
            #expect(throws: RunLoop.Error.invalid) { _ = try RunLoop.Source(counter: reader) {} }
        }
        #expect(freed.value == 1)
    }
}
