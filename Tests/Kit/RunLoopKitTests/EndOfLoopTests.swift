import Glibc
import RunLoopKit
import RunLoopKitLinux
import Synchronization
import Testing

/// What a task waits for hears from its own source that the loop's thread ends, and tells that from an end of its own.
@Suite struct EndOfLoopTests {
    @Test("A child's end is not the loop's, a child that is not watched any more neither")
    func child() async throws {
        let thread = try RunLoop.Thread()
        for code: CInt in [0, 7] {
            let child = try RunLoop.Child(adopting: startShell("exit \(code)"), on: thread.loop)
            #expect(try await child.exit().reason == .exited(code))
            #expect(try await child.exit().reason == .exited(code))
        }
        let pid = try startShell("exec sleep 1000")
        defer {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
        }
        let child = try RunLoop.Child(watching: pid, on: thread.loop)
        let second = try RunLoop.Thread()
        let awaited = SharedChild(try RunLoop.Child(watching: pid, on: second.loop))
        let waiting = Task { try await awaited.child.exit() }
        thread.stop()
        await thread.join()
        await #expect(throws: RunLoop.Error.loopFinished) { try await child.exit() }
        #expect(child.exitIfEnded == nil)
        second.stop()
        await #expect(throws: RunLoop.Error.loopFinished) { try await waiting.value }
    }

    @Test("Tasks that wait for a connection get the end, whoever ends it; one that comes later does too")
    func listener() async throws {
        for endsLoop in [true, false] {
            let thread = try RunLoop.Thread()
            let mode = RunLoop.Mode("marks a wait")
            let listener = try RunLoop.Listener(.tcp(port: 0), on: thread.loop, inMode: mode)
            let waiting = (0..<2).map { _ in
                Task { for try await _ in listener.connections { Issue.record("Nobody has connected.") } }
            }
            #expect(try await eventually { thread.loop.allModes.contains(mode) })
            #expect(!thread.loop.isEmpty(inMode: mode))
            if endsLoop {
                thread.stop()
                await thread.join()
            } else {
                listener.invalidate()
                #expect(thread.loop.isEmpty(inMode: mode))
            }
            for task in waiting { try await task.value }
            for try await _ in listener.connections { Issue.record("There is none any more.") }
            #expect(listener.address.isEmpty)
        }
    }

    @Test("What is forgotten is not called at the end, and keeps nothing alive until then")
    func forgets() async throws {
        let thread = try RunLoop.Thread()
        let called = Count()
        weak var kept: Kept?
        do {
            let object = Kept()
            kept = object
            let number = thread.loop.end.notify { [object] in withExtendedLifetime(object) { called.increment() } }
            thread.loop.end.forget(try #require(number))
        }
        #expect(kept == nil)
        thread.stop()
        await thread.join()
        #expect(called.value == 0)
    }

    @Test("The mode of a listener is not empty while nobody waits, once somebody has")
    func listenerBetweenWaits() async throws {
        let thread = try RunLoop.Thread()
        let listener = try RunLoop.Listener(.tcp(port: 0), on: thread.loop)
        let cancelled = Task { for try await _ in listener.connections {} }
        cancelled.cancel()
        try await cancelled.value
        let mode = RunLoop.Mode("marks a wait")
        let second = try RunLoop.Listener(.tcp(port: 0), on: thread.loop, inMode: mode)
        let waiting = Task { for try await _ in second.connections {} }
        #expect(try await eventually { thread.loop.allModes.contains(mode) })
        waiting.cancel()
        try await waiting.value
        #expect(!thread.loop.isEmpty(inMode: mode))
        second.invalidate()
        #expect(thread.loop.isEmpty(inMode: mode))
        #expect(!listener.address.isEmpty)
    }

    @Test("A writer that has closed its pipe is finished, and the end of the loop comes later")
    func finishedWriter() async throws {
        let thread = try RunLoop.Thread()
        let (reader, output) = try makePipe()
        let writer = try RunLoop.Writer(adopting: output, on: thread.loop)
        try await writer.write("x")
        try await writer.finish()
        #expect(readByte(reader) && !readByte(reader))
        #expect(writer.isValid)
        await #expect(throws: RunLoop.Error.brokenPipe) { try await writer.write("x") }
        writer.invalidate()
        #expect(!writer.isValid)
        let (second, input) = try makePipe()
        let valid = try RunLoop.Writer(borrowing: input, on: thread.loop)
        thread.stop()
        await thread.join()
        #expect(valid.isValid)
        await #expect(throws: RunLoop.Error.loopFinished) { try await valid.write("x") }
        for descriptor in [reader, second, input] { close(descriptor) }
    }

    @Test("A writer that a loop refuses closes its descriptor, if it was to")
    func refusedWriter() async throws {
        let thread = try RunLoop.Thread()
        thread.stop()
        await thread.join()
        let (reader, output) = try makePipe()
        #expect(throws: RunLoop.Error.loopFinished) {
            try RunLoop.Writer(adopting: output, on: thread.loop)
        }
        var byte: UInt8 = 0
        #expect(read(reader, &byte, 1) == 0)
        close(reader)
    }

    @Test("A writer that can't be made closes its descriptor, if it was to, and leaves it otherwise")
    func unmadeWriter() throws {
        let (reader, output) = try makePipe()
        defer { close(output) }
        #expect(throws: RunLoop.Error.badDescriptor) { try RunLoop.Writer(borrowing: reader, on: .current) }
        #expect(fcntl(reader, F_GETFD) >= 0)
        #expect(throws: RunLoop.Error.badDescriptor) {
            try RunLoop.Writer(adopting: reader, on: .current)
        }
        // Without a reader, the pipe is broken: once the children that other tests are about to start have no copy any more.
        var waited = pollfd(fd: output, events: 0, revents: 0)
        #expect(poll(&waited, 1, 120_000) == 1 && waited.revents & Int16(POLLERR) != 0)
    }

    @Test("A reader of a pipe, and one of a file, reports the end of the loop; a cancelled one does not")
    func reader() async throws {
        let (input, output) = try makePipe()
        defer {
            close(input)
            close(output)
        }
        let thread = try RunLoop.Thread()
        let mode = RunLoop.Mode("marks a wait")
        let cancelled = Task { try await RunLoop.Reader(borrowing: input, on: thread.loop).line() }
        cancelled.cancel()
        #expect(try await cancelled.value == nil)
        let waiting = Task { try await RunLoop.Reader(borrowing: input, on: thread.loop, inMode: mode).line() }
        #expect(try await eventually { thread.loop.allModes.contains(mode) })
        // Nobody runs the mode, so nothing is read of the file either.
        let file = open("/proc/self/status", O_RDONLY)
        defer { close(file) }
        let other = RunLoop.Mode("marks another")
        let reading = Task { try await RunLoop.Reader(borrowing: file, on: thread.loop, inMode: other).line() }
        #expect(try await eventually { thread.loop.allModes.contains(other) })
        thread.stop()
        await #expect(throws: RunLoop.Error.loopFinished) { try await waiting.value }
        await #expect(throws: RunLoop.Error.loopFinished) { try await reading.value }
    }

    @Test("A channel reports its end, once: its own, the loop's, or that the other end has gone")
    func channel() async throws {
        for way in ["loop", "own", "other"] {
            let (first, second) = try makeSockets(SOCK_SEQPACKET)
            let threads = [try RunLoop.Thread(), try RunLoop.Thread()]
            let ends = Mutex<[RunLoop.ChannelError]>([])
            let channel = try RunLoop.Channel(
                adopting: first, on: threads[0].loop, receive: { _, _ in },
                onEnd: { end in ends.withLock { $0.append(end) } })
            let other = try RunLoop.Channel(adopting: second, on: threads[1].loop)
            let receiving = Task { for try await _ in other.messages {} }
            switch way {
            case "loop": threads[0].stop()
            case "own": channel.invalidate()
            default: other.invalidate()
            }
            try await receiving.value
            #expect(try await eventually { !channel.isValid && !other.isValid })
            for thread in threads {
                thread.stop()
                await thread.join()
            }
            let expected: [RunLoop.ChannelError] =
                switch way {
                case "loop": [.failed(.loopFinished)]
                case "own": []
                default: [.closed]
                }
            #expect(ends.withLock { $0 } == expected)
        }
    }

    @Test(
        "What a source reports as a sequence ends with the loop, and with its task",
        arguments: ["signals", "ticks", "changes", "clock changes"])
    func sequences(kind: String) async throws {
        for waits in [true, false] {
            let thread = try RunLoop.Thread()
            let loop = thread.loop
            let mode = RunLoop.Mode("marks a wait")
            let waiting = Task {
                switch kind {
                case "signals": for try await _ in loop.signals(SIGWINCH, inMode: mode) {}
                case "ticks":
                    let now = ContinuousClock.now
                    for try await _ in loop.ticks(at: now + .seconds(1000), every: .seconds(1), inMode: mode) {}
                case "changes": for try await _ in loop.changes(of: "/tmp/runloop-nothing", inMode: mode) {}
                default: for try await _ in loop.clockChanges(inMode: mode) {}
                }
            }
            #expect(try await eventually { loop.allModes.contains(mode) && !loop.isEmpty(inMode: mode) })
            if waits { thread.stop() } else { waiting.cancel() }
            try await waiting.value
            if !waits { #expect(try await eventually { loop.isEmpty(inMode: mode) }) }
        }
    }

    @Test("A job that the end of a thread adds runs after everything else of the loop, not in the call that adds it")
    func jobsOfEnd() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let trace = Trace()
        let addJob: @Sendable () -> Void = {
            trace.note("begin")
            Task(executorPreference: loop.taskExecutor) { trace.note("job") }
            trace.note("end")
        }
        for _ in 0..<2 { try loop.add(RunLoop.Source(onCancel: { _, _ in addJob() }) {}, forMode: "never run") }
        thread.perform(inModes: ["never run"]) { addJob() }
        thread.stop()
        await thread.join()
        #expect(trace.all == ["begin", "end", "begin", "end", "begin", "end", "job", "job", "job"])
    }

    @Test("Ticks that come while the consumer is busy are one element")
    func busyConsumer() async throws {
        let thread = try RunLoop.Thread()
        var ticks = thread.loop.ticks(at: ContinuousClock.now, every: .milliseconds(1)).makeAsyncIterator()
        _ = try #require(try await ticks.next(isolation: nil))
        try await Task.sleep(for: .milliseconds(20))
        #expect(try #require(try await ticks.next(isolation: nil)).missed >= 10)
    }
}

private final class Kept: Sendable {}
