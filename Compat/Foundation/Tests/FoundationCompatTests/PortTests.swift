import RunLoopKit
import RunLoopKitFoundationCompat
import Testing

import class RunLoopKitFoundationCompat.RunLoop

@Suite struct PortTests {
    final class Probe: Port {
        let trace: Trace
        init(_ trace: Trace) {
            self.trace = trace
            super.init()
        }
        override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) { trace.note("+\(mode.rawValue)") }
        override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) { trace.note("-\(mode.rawValue)") }
        deinit { trace.note("freed") }
    }

    @Test("R133 A loop notifies a port once for each mode, retains it, and releases it when it is invalid")
    func schedules() async throws {
        try await onThread {
            let trace = Trace()
            let loop = RunLoop.current
            func use() {
                let port = Probe(trace)
                loop.add(port, forMode: .init("a"))
                loop.add(port, forMode: .init("a"))
                loop.add(port, forMode: .init("b"))
                loop.remove(port, forMode: .init("b"))
                loop.remove(port, forMode: .init("b"))
            }
            use()
            #expect(trace.all == ["+a", "+b", "-b"])
            weak var kept: Port?
            func invalidateOne() {
                let port = Probe(trace)
                loop.add(port, forMode: .init("c"))
                kept = port
                port.invalidate()
                port.invalidate()
                loop.add(port, forMode: .init("d"))
                loop.remove(port, forMode: .init("c"))
            }
            invalidateOne()
            // Another thread that posts compares the senders of all observers, and holds each of them for that long.
            for _ in 0..<100_000 where kept != nil { usleep(100) }
            #expect(kept == nil)
            #expect(trace.all == ["+a", "+b", "-b", "+c", "freed"])
        }
    }

    @Test("R133 A port keeps its modes from being empty, from any thread, until it is removed")
    func keepsRunning() async throws {
        try await onThread {
            let loop = RunLoop.current
            let port = NSMachPort()
            #expect(port.isValid)
            loop.add(port, forMode: .common)
            #expect(loop.run(mode: .default, before: Date()))
            loop.remove(port, forMode: .common)
            #expect(!loop.run(mode: .default, before: .distantFuture))
            loop.add(port, forMode: .default)
            let posted = Trace()
            let token = NotificationCenter.default.addObserver(
                forName: Port.didBecomeInvalidNotification, object: port, queue: nil
            ) { _ in posted.note("invalid") }
            let sent = Unguarded(object: port)
            Thread.detachNewThread { sent.object.invalidate() }
            loop.run()
            #expect(wait { posted.all == ["invalid"] })
            NotificationCenter.default.removeObserver(token)
        }
    }

    @Test("A descriptor's port calls its handler while the descriptor is ready")
    func descriptor() async throws {
        try await onThread {
            try withPipe { reader, writer in
                let trace = Trace()
                let loop = RunLoop.current
                let port = try FileDescriptorPort(fileDescriptor: reader) { port, ready in
                    if !readByte(port.fileDescriptor) { trace.note("for nothing") }
                    trace.note("read \(ready.contains(.read))")
                }
                #expect(port.fileDescriptor == reader)
                loop.add(port, forMode: .default)
                writeByte(writer)
                writeByte(writer)
                #expect(loop.run(mode: .default, before: .distantFuture))
                #expect(loop.run(mode: .default, before: .distantFuture))
                #expect(trace.all == ["read true", "read true"])
                loop.remove(port, forMode: .default)
                #expect(!loop.run(mode: .default, before: .distantFuture))
                port.invalidate()
                #expect(port.schedulingError == nil)
            }
        }
    }

    @Test("A descriptor that cannot be waited for makes its port invalid, with the reason")
    func badDescriptor() async throws {
        try await onThread {
            #expect(throws: (any Error).self) { try FileDescriptorPort(fileDescriptor: -1) { _, _ in } }
            #expect(throws: (any Error).self) { try FileDescriptorPort(fileDescriptor: 0, events: []) { _, _ in } }
            let file = open("/proc/self/exe", O_RDONLY)
            defer { close(file) }
            let port = try FileDescriptorPort(fileDescriptor: file) { _, _ in }
            RunLoop.current.add(port, forMode: .default)
            #expect(!port.isValid)
            #expect(port.schedulingError == .permissionDenied)
            #expect(!RunLoop.current.run(mode: .default, before: .distantFuture))
        }
    }
}
