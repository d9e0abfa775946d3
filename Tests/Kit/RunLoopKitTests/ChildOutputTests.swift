import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

/// What is read of children in orders that people take, and what is not all of it.
@Suite struct ChildOutputTests {
    private func start(
        _ script: String, outputLimit: Duration = .seconds(2), error: RunLoop.Child.Stream = .inherited,
        on loop: RunLoop
    ) throws -> RunLoop.Child {
        var options = RunLoop.Child.Options()
        options.outputLimit = outputLimit
        return try RunLoop.Child.start(["sh", "-c", script], output: .pipe, error: error, options: options, on: loop)
    }

    @Test("Output that is cut off is never complete: lines and chunks end with an error, after the child's last words")
    func cutOff() async throws {
        let thread = try RunLoop.Thread()
        // What the grandchild says comes later than the limit.
        let script = "(sleep 1000; echo late) & echo $! >&2; printf 'one\\ntwo'"
        func words(
            _ read: (RunLoop.Child) async throws -> String
        ) async throws -> String {
            let child = try start(script, outputLimit: .milliseconds(50), error: .pipe, on: thread.loop)
            let grandchild = try #require(Int32(try await child.error.reader().line() ?? ""))
            defer { kill(grandchild, SIGKILL) }
            return try await read(child)
        }
        let collected = try await words { child in
            let (bytes, isComplete) = try await child.output.collect(upTo: 1_000)
            #expect(!isComplete)
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(collected == "one\ntwo")
        let lines = try await words { child in
            var text = ""
            await #expect(throws: RunLoop.Error.outputCutOff) {
                for try await line in child.output.lines() { text += line + "|" }
            }
            return text
        }
        #expect(lines == "one|two|")
        let chunks = try await words { child in
            var bytes: [UInt8] = []
            await #expect(throws: RunLoop.Error.outputCutOff) {
                for try await chunk in child.output.chunks { bytes += chunk }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(chunks == "one\ntwo")
    }

    @Test("A grandchild that ends before the limit has its words read, and the output is complete")
    func inTime() async throws {
        let thread = try RunLoop.Thread()
        let child = try start("(sleep 0.05; echo late) & echo hi", outputLimit: .seconds(100), on: thread.loop)
        let (bytes, isComplete) = try await child.output.collect(upTo: 1_000)
        #expect(String(decoding: bytes, as: UTF8.self) == "hi\nlate\n" && isComplete)
        #expect(try await child.exit().isSuccess)
        // Read after the limit, but at its end by itself.
        let quick = try start("echo hi", outputLimit: .zero, on: thread.loop)
        #expect(try await quick.exit().isSuccess)
        try await Task.sleep(for: .milliseconds(20))
        #expect(try await quick.output.collect(upTo: 1_000).isComplete)
    }

    @Test("Beyond a limit output is dropped, and the child goes on to its own end; or its pipe is closed")
    func excess() async throws {
        let thread = try RunLoop.Thread()
        let dropping = try start("head -c 300000 /dev/zero; exit 5", on: thread.loop)
        let (bytes, isComplete) = try await dropping.output.collect(upTo: 1_000)
        #expect(bytes.count == 1_000 && !isComplete)
        #expect(try await dropping.exit().reason == .exited(5))
        let closing = try RunLoop.Child.start(["yes"], output: .pipe, on: thread.loop)
        let (lines, areAll) = try await closing.output.collect(upTo: 1_000, beyond: .close)
        #expect(lines.count == 1_000 && !areAll)
        #expect(try await closing.exit().reason == .signalled(SIGPIPE, dumpedCore: false))
        await #expect(throws: RunLoop.Error.outputCutOff) { try await closing.output.reader().byte() }
        // What is exactly as long as the limit is all.
        let exact = try start("printf 12345", on: thread.loop)
        #expect(try await exact.output.collect(upTo: 5, beyond: .close) == (Array("12345".utf8), true))
        #expect(try await exact.exit().isSuccess)
    }

    @Test(
        "One output after the other is collected, however much there is of the second: it is read meanwhile, and kept")
    func together() async throws {
        let thread = try RunLoop.Thread()
        let child = try start("head -c 300000 /dev/zero >&2; echo done; echo end >&2", error: .pipe, on: thread.loop)
        let output = try await child.output.collect(upTo: 1 << 20)
        #expect(String(decoding: output.bytes, as: UTF8.self) == "done\n" && output.isComplete)
        let error = try await child.error.collect(upTo: 1 << 20)
        #expect(error.bytes.count == 300_004 && error.isComplete)
        #expect(error.bytes.suffix(4) == Array("end\n".utf8))
        #expect(try await child.exit().isSuccess)
        // Lines of what was kept, too.
        let other = try start("echo one >&2; echo two >&2; echo done", error: .pipe, on: thread.loop)
        #expect(try await other.output.collect(upTo: 100).bytes == Array("done\n".utf8))
        var lines: [String] = []
        for try await line in other.error.lines() { lines.append(line) }
        #expect(lines == ["one", "two"])
    }

    @Test("What is collected holds up nobody, and what is not yet holds up the child")
    func oneAfterTheOther() async throws {
        let thread = try RunLoop.Thread()
        let child = try RunLoop.Child.start(
            ["sh", "-c", "echo done; exec >&-; read line; head -c 300000 /dev/zero >&2"], input: .pipe, output: .pipe,
            error: .pipe, on: thread.loop)
        #expect(try await child.output.collect(upTo: 1 << 20).bytes == Array("done\n".utf8))
        // Nobody reads the rest, and the kernel keeps no more than a part of it.
        try await child.input.write("go\n")
        try await Task.sleep(for: .milliseconds(50))
        #expect(child.exitIfEnded == nil)
        #expect(try await child.error.collect(upTo: 1 << 20).bytes.count == 300_000)
        #expect(try await child.exit().isSuccess)
    }

    @Test("What was kept of a pipe is gone when that is closed beyond a limit")
    func keptBeyondLimit() async throws {
        let thread = try RunLoop.Thread()
        let child = try start("head -c 300000 /dev/zero >&2; echo done", error: .pipe, on: thread.loop)
        #expect(try await child.output.collect(upTo: 1 << 20).isComplete)
        let (bytes, isComplete) = try await child.error.collect(upTo: 10, beyond: .close)
        #expect(bytes.count == 10 && !isComplete)
        await #expect(throws: RunLoop.Error.outputCutOff) { try await child.error.reader().byte() }
    }

    @Test("A child that waits for a reader of its pipe, while its end is awaited, is named on standard error")
    func named() async throws {
        await #expect(processExitsWith: .success) {
            let thread = try RunLoop.Thread()
            let (reader, writer) = try makePipe()
            dup2(writer, STDERR_FILENO)
            let child = try RunLoop.Child.start(["head", "-c", "300000", "/dev/zero"], output: .pipe, on: thread.loop)
            let exit = Task { try await child.exit() }
            let line = try await RunLoop.Reader(borrowing: reader, on: thread.loop).line() ?? ""
            #expect(
                line.contains(
                    "\(child.process) (head) can't go on: its descriptor 1 is a pipe that is full, with 65536 bytes")
            )
            #expect(line.contains("RunLoop.Child.run"))
            #expect(try await child.output.collect(upTo: 0).isComplete == false)
            #expect(try await exit.value.isSuccess)
        }
        // Another pipe of its is read, and nobody awaits its end.
        await #expect(processExitsWith: .success) {
            let thread = try RunLoop.Thread()
            let (reader, writer) = try makePipe()
            dup2(writer, STDERR_FILENO)
            let child = try RunLoop.Child.start(
                ["sh", "-c", "head -c 300000 /dev/zero >&2; echo done"], output: .pipe, error: .pipe, on: thread.loop)
            let lines = Task {
                for try await line in child.output.lines() { return line }
                return ""
            }
            let line = try await RunLoop.Reader(borrowing: reader, on: thread.loop).line() ?? ""
            #expect(line.contains("\(child.process) (sh) can't go on: its descriptor 2 is a pipe that is full"))
            _ = try await child.error.collect(upTo: 0)
            #expect(try await lines.value == "done")
        }
    }

    @Test("A child that is read slowly is not named, nor one whose pipe is closed at the limit")
    func notNamed() async throws {
        await #expect(processExitsWith: .success) {
            let thread = try RunLoop.Thread()
            let (reader, writer) = try makePipe()
            dup2(writer, STDERR_FILENO)
            let arguments = ["head", "-c", "300000", "/dev/zero"]
            let read = try RunLoop.Child.start(arguments, output: .pipe, on: thread.loop)
            let slow = read.output.reader()
            _ = try await slow.byte()
            let exit = Task { try await read.exit() }
            let closed = try RunLoop.Child.start(arguments, output: .pipe, on: thread.loop)
            _ = try await closed.output.collect(upTo: 1, beyond: .close)
            // Longer than two looks take.
            try await Task.sleep(for: .seconds(4))
            while try await slow.chunk() != nil {}
            #expect(try await exit.value.isSuccess)
            _ = try await closed.exit()
            close(writer)
            close(STDERR_FILENO)
            #expect(try await RunLoop.Reader(borrowing: reader, on: thread.loop).line() == nil)
        }
    }

    @Test("Children are kept in sets and dictionaries")
    func kept() async throws {
        let thread = try RunLoop.Thread()
        var children: Set<RunLoop.Child> = []
        var names: [RunLoop.Child: String] = [:]
        for name in ["one", "two"] {
            let child = try RunLoop.Child.start(["true"], on: thread.loop)
            children.insert(child)
            children.insert(child)
            names[child] = name
        }
        #expect(children.count == 2 && Set(names.values) == ["one", "two"])
        for child in children { #expect(try await child.exit().isSuccess) }
    }

    @Test("A child has a terminal: its size, its lines, its last words, and an end that is no error")
    func terminal() async throws {
        let thread = try RunLoop.Thread()
        let child = try RunLoop.Child.start(
            ["sh", "-c", "stty size -echo; read word; stty size; printf $word"],
            input: .terminal(rows: 33, columns: 77),
            output: .same(as: 0), error: .same(as: 0), on: thread.loop)
        let reader = child.output.reader()
        #expect(try await reader.line() == "33 77")
        try child.resizeTerminal(rows: 50, columns: 132)
        try await child.input.write("last\n")
        var lines: [String] = []
        for try await line in reader.lines() { lines.append(line) }
        #expect(lines.suffix(2) == ["50 132", "last"])
        #expect(try await child.exit().isSuccess)
        // A shell there leads its session.
        let plain = try RunLoop.Child.start(
            ["sh", "-c", "read word; exit 3"], input: .terminal(rows: 24, columns: 80), output: .null, on: thread.loop)
        try await plain.input(to: 0).write("\u{4}")
        #expect(try await plain.exit().reason == .exited(3))
    }
}
