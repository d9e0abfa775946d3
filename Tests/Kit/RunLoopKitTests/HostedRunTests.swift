import Glibc
import RunLoopKit
import RunLoopKitTesting
import Testing

/// What a hosted run does is tested in C, under many hosts. Here: what Swift makes of it.
@Suite struct HostedRunTests {
    /// A host: waits for the descriptor, and lets the run go on.
    private static func serve(_ run: RunLoop.HostedRun, until condition: () -> Bool) {
        let deadline = RunLoop.Instant.now + generous
        while !condition() && RunLoop.Instant.now < deadline {
            var waited = pollfd(fd: run.fileDescriptor, events: Int16(POLLIN), revents: 0)
            if poll(&waited, 1, 100) == 1 { run.iterate() }
        }
    }

    private static func isReadable(_ run: RunLoop.HostedRun) -> Bool {
        var waited = pollfd(fd: run.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waited, 1, 0) == 1
    }

    @Test("R41 Timers and closures, own and other threads' ones, are served in the host's loop")
    func events() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let served = Count()
            let keepAlive = RunLoop.Source {}
            try loop.add(keepAlive, forMode: .default)
            let run = try RunLoop.HostedRun()
            #expect(run.status == .hasMore && Self.isReadable(run))
            try loop.add(RunLoop.Timer(after: .milliseconds(1)) { _ in served.increment() }, forMode: .default)
            Self.serve(run) { served.value == 1 }
            let thread = TestThread { loop.perform { served.increment() } }
            Self.serve(run) { served.value == 2 }
            thread.join()
            #expect(served.value == 2)
            #expect(run.iterate() == .waiting && !Self.isReadable(run))
            run.end()
            run.end()
            #expect(run.status == .ended(.stopped) && run.iterate() == .ended(.stopped))
        }
    }

    @Test("R22 R37 R46 R47 A hosted run says why it ended")
    func results() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            #expect(try RunLoop.HostedRun(mode: "empty").status == .ended(.finished))
            let keepAlive = RunLoop.Source {}
            try loop.add(keepAlive, forMode: "m")
            loop.stop(remembered: true)
            #expect(try RunLoop.HostedRun(mode: "m").status == .ended(.stopped))
            let stopped = try RunLoop.HostedRun(mode: "m")
            loop.perform(inModes: ["m"]) { loop.stop() }
            #expect(stopped.iterate() == .ended(.stopped))
            let emptied = try RunLoop.HostedRun(mode: "m")
            #expect(emptied.iterate() == .waiting)
            keepAlive.invalidate()
            #expect(emptied.iterate() == .ended(.finished))
        }
    }

    @Test("R99 A hosted run that is released ends, and one with a budget says that there is more")
    func released() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let exits = Count()
            let performed = Count()
            try loop.add(RunLoop.Source {}, forMode: .default)
            try loop.add(RunLoop.Observer(.exit) { _, _ in exits.increment() }, forMode: .default)
            do {
                let run = try RunLoop.HostedRun()
                func again() {
                    performed.increment()
                    if performed.value < 5 { loop.perform { again() } }
                }
                loop.perform { again() }
                #expect(run.iterate(for: .zero) == .hasMore && Self.isReadable(run))
                #expect(run.iterate() == .waiting && performed.value == 5)
                #expect(exits.value == 0)
            }
            #expect(exits.value == 1 && loop.currentMode == nil)
        }
    }

    @Test("R38 Hosted runs nest, and a plain run in between leaves everything in order")
    func nested() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let served = Count()
            try loop.add(RunLoop.Source {}, forMode: .default)
            try loop.add(RunLoop.Source {}, forMode: "dialog")
            let run = try RunLoop.HostedRun()
            #expect(run.iterate() == .waiting)
            loop.perform {
                do {
                    let dialog = try RunLoop.HostedRun(mode: "dialog")
                    #expect(loop.currentMode == "dialog" && dialog.iterate() == .waiting)
                    dialog.end()
                } catch { Issue.record(error) }
                served.increment()
            }
            #expect(run.iterate() == .waiting && served.value == 1)
            #expect(loop.run(mode: "dialog", for: .zero) == .timedOut)
            #expect(loop.currentMode == .default)
            loop.perform { served.increment() }
            Self.serve(run) { served.value == 2 }
            #expect(served.value == 2)
        }
    }

    @Test("R104 A message that the host's own code sends while the run sleeps is received")
    func ownMessage() async throws {
        try await withRunLoopThread {
            let received = Count()
            let port = try RunLoop.Port<Int, Void>(on: .current) { _ in received.increment() }
            let run = try RunLoop.HostedRun()
            while run.iterate() == .hasMore {}
            try port.send(1)
            #expect(Self.isReadable(run))
            Self.serve(run) { received.value == 1 }
            #expect(received.value == 1)
            run.end()
            port.invalidate()
        }
    }

    @Test("A hosted run of another thread is refused")
    func otherThread() async {
        await #expect(processExitsWith: .failure) {
            await withRunLoop { loop in
                try! loop.add(RunLoop.Source {}, forMode: "m")
                nonisolated(unsafe) let hosted = try! RunLoop.HostedRun(mode: "m")
                TestThread { hosted.iterate() }.join()
            }
        }
    }
}
