import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

/// Programs that are run to their end in one call, by a loop and by a thread.
@Suite struct ChildRunTests {
    @Test("A program is fed, both outputs are read, and its end is returned")
    func run() async throws {
        let thread = try RunLoop.Thread()
        let script = ["sh", "-c", "sort; echo $WORD >&2; pwd >&2; exit 3"]
        let outcome = try await RunLoop.Child.run(
            script, input: "b\na\n".utf8, environment: ["WORD": "word", "PATH": "/usr/bin:/bin"], workingDirectory: "/",
            on: thread.loop)
        #expect(outcome.output.text == "a\nb\n" && outcome.output.isComplete)
        #expect(outcome.error.text == "word\n/\n" && outcome.error.end == .complete)
        #expect(outcome.exit.reason == .exited(3) && !outcome.exit.isSuccess)
        #expect(outcome.unreadInputCount == 0 && !outcome.hasTimedOut)
        #expect(waitpid(try #require(outcome.exit.process), nil, WNOHANG) == -1)
        let blocking = try await RunLoop.runBlocking {
            try RunLoop.Child.run(["sh", "-c", "sort; exit 3"], input: "b\na\n".utf8)
        }
        #expect(blocking.output == outcome.output && blocking.exit.reason == .exited(3))
        #expect(try await RunLoop.Child.run(["cat"], on: thread.loop).output.bytes == [])
        #expect(try await RunLoop.Child.run(["cat"], input: [], on: thread.loop).output.bytes == [])
    }

    @Test("Much in three directions holds up nobody, and what is beyond the limit is dropped, or its pipe is closed")
    func limits() async throws {
        let thread = try RunLoop.Thread()
        let input = [UInt8](repeating: 65, count: 400_000)
        let script = ["sh", "-c", "head -c 300000 /dev/zero >&2; cat; head -c 300000 /dev/zero >&2"]
        let outcome = try await RunLoop.Child.run(script, input: input, upTo: 1_000, on: thread.loop)
        #expect(outcome.exit.isSuccess)
        #expect(outcome.output.bytes == Array(input.prefix(1_000)))
        #expect(outcome.output.droppedCount == 399_000 && outcome.output.end == .overLimit)
        #expect(outcome.error.droppedCount == 599_000 && !outcome.error.isComplete)
        let closed = try await RunLoop.Child.run(["yes"], upTo: 10, beyond: .close, on: thread.loop)
        #expect(closed.exit.reason == .signalled(SIGPIPE, dumpedCore: false))
        #expect(closed.output.text == "y\ny\ny\ny\ny\n")
        #expect(try await RunLoop.Child.run(["cat"], input: input, upTo: .max, on: thread.loop).output.bytes == input)
    }

    @Test("Streams go elsewhere if that is said, and those that need the caller are refused")
    func streams() async throws {
        let thread = try RunLoop.Thread()
        let script = ["sh", "-c", "echo out; echo error >&2"]
        let merged = try await RunLoop.Child.run(script, error: .same(as: 1), on: thread.loop)
        #expect(merged.output.text == "out\nerror\n" && merged.error.bytes == [])
        let dropped = try await RunLoop.Child.run(script, output: .null, on: thread.loop)
        #expect(dropped.output.bytes == [] && dropped.error.text == "error\n")
        let inherited = try await RunLoop.Child.run(
            ["sh", "-c", "[ -e /proc/$$/fd/2 ]"], error: .inherited, on: thread.loop)
        #expect(inherited.exit.isSuccess)
        var options = RunLoop.Child.Options()
        options.descriptors = [5: .pipe]
        let error = try await #require(throws: RunLoop.Error.self) {
            try await RunLoop.Child.run(["true"], options: options, on: thread.loop)
        }
        #expect(error == .invalid && error.subject == "descriptor 5")
        let missing = try await #require(throws: RunLoop.Error.self) {
            try await RunLoop.Child.run(["/no/program"], on: thread.loop)
        }
        #expect(missing.errorNumber == ENOENT && missing.subject == "/no/program")
    }

    @Test("Output that another process goes on to write is cut off, and that is said")
    func cutOff() async throws {
        let thread = try RunLoop.Thread()
        var options = RunLoop.Child.Options()
        options.outputLimit = .milliseconds(20)
        let outcome = try await RunLoop.Child.run(
            ["sh", "-c", "sleep 1000 & echo $!"], options: options, on: thread.loop)
        kill(try #require(Int32(outcome.output.text.dropLast())), SIGKILL)
        #expect(outcome.output.end == .cutOff && outcome.exit.isSuccess)
    }

    @Test("A program that takes too long is ended, and so is that of a task that is cancelled, before it returns")
    func ended() async throws {
        let thread = try RunLoop.Thread()
        let begun = RunLoop.Instant.now
        let late = try await RunLoop.Child.run(["sleep", "1000"], timeLimit: .milliseconds(50), on: thread.loop)
        #expect(late.hasTimedOut && late.exit.reason == .signalled(SIGTERM, dumpedCore: false))
        #expect(.now >= begun + .milliseconds(50))
        let path = "/tmp/runloop-run-\(getpid())"
        defer { unlink(path) }
        var options = RunLoop.Child.Options()
        options.group = .new
        // Open for as long as any process of the group is there.
        let (atEnd, ofGroup) = try makePipe()
        options.descriptors[5] = .borrowing(ofGroup)
        let task = Task { [options] in
            try await RunLoop.Child.run(
                ["sh", "-c", "echo $$ > \(path).new; mv \(path).new \(path); sleep 1000; :"], options: options,
                on: thread.loop)
        }
        #expect(try await eventually { access(path, F_OK) == 0 })
        let text = try await RunLoop.Reader(borrowing: try opened(path), on: thread.loop).line()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(kill(try #require(text.flatMap { Int32($0) }), 0) == -1)
        close(ofGroup)
        #expect(
            try await eventually {
                var query = pollfd(fd: atEnd, events: 0, revents: 0)
                return poll(&query, 1, 0) > 0
            })
        close(atEnd)
        let alone = Task { try await RunLoop.Child.run(["sleep", "1000"], on: thread.loop) }
        try await Task.sleep(for: .milliseconds(10))
        alone.cancel()
        await #expect(throws: CancellationError.self) { try await alone.value }
        #expect(try await RunLoop.Child.run(["sleep", "1000"], timeLimit: .zero, on: thread.loop).hasTimedOut)
        let before = Task { try await RunLoop.Child.run(["/no/program"], on: thread.loop) }
        before.cancel()
        await #expect(throws: (any Error).self) { try await before.value }
    }

    @Test("A program whose loop ends is killed and reaped, and so is one that a loop refuses")
    func endOfLoop() async throws {
        // In a process that has no other children.
        await #expect(processExitsWith: .success) {
            let thread = try RunLoop.Thread()
            let loop = thread.loop
            let task = Task { try await RunLoop.Child.run(["sleep", "1000"], on: loop) }
            #expect(try await eventually { hasChild() })
            thread.stop()
            await thread.join()
            await #expect(throws: RunLoop.Error.loopFinished) { try await task.value }
            #expect(!hasChild())
            await #expect(throws: RunLoop.Error.loopFinished) {
                try await RunLoop.Child.run(["sleep", "1000"], on: loop)
            }
            #expect(!hasChild())
        }
    }

    private func opened(_ path: String) throws -> CInt {
        let number = open(path, O_RDONLY | O_CLOEXEC)
        #expect(number >= 0)
        return number
    }
}

/// Whether this process has one, or one that nobody has reaped.
private func hasChild() -> Bool {
    var info = siginfo_t()
    return waitid(P_ALL, 0, &info, CInt(WEXITED | WNOHANG | WNOWAIT)) == 0
}
