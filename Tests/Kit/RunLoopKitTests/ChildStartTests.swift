import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

@Suite struct ChildStartTests {
    @Test("A child's output is read as lines, chunks and bytes, and its end is awaited")
    func output() async throws {
        let thread = try RunLoop.Thread()
        let child = try RunLoop.Child.start(shell("echo one; echo two; exit 3"), output: .pipe, on: thread.loop)
        var lines: [String] = []
        for try await line in child.output.lines() { lines.append(line) }
        #expect(lines == ["one", "two"])
        let exit = try await child.exit()
        #expect(exit.reason == .exited(3))
        #expect(exit.usage != nil)
        #expect(waitpid(try #require(exit.process), nil, WNOHANG) == -1)

        let other = try RunLoop.Child.start(
            shell("printf abc; printf d >&2"), output: .pipe, error: .pipe, on: thread.loop)
        var bytes: [UInt8] = []
        for try await chunk in other.output.chunks { bytes += chunk }
        #expect(bytes == Array("abc".utf8))
        #expect(try await other.error.reader().byte() == UInt8(ascii: "d"))
        #expect(try await other.exit().isSuccess)
    }

    @Test("A child reads what a writer sends, until that is finished")
    func input() async throws {
        let thread = try RunLoop.Thread()
        let child = try RunLoop.Child.start(["sort"], input: .pipe, output: .pipe, on: thread.loop)
        for word in ["pear", "apple", "fig"] { try await child.input.write("\(word)\n") }
        try await child.input.finish()
        let sorted = try await child.output.collect(upTo: 1_000)
        #expect(String(decoding: sorted.bytes, as: UTF8.self) == "apple\nfig\npear\n")
        #expect(sorted.isComplete)
        #expect(try await child.exit().isSuccess)
    }

    @Test("Output is collected up to a limit, and what is longer is not complete")
    func collected() async throws {
        let thread = try RunLoop.Thread()
        for (limit, expected, isComplete) in [
            (4, "1234", false), (5, "12345", true), (6, "12345", true), (.max, "12345", true),
            (0, "", false),
        ] {
            let child = try RunLoop.Child.start(["printf", "12345"], output: .pipe, on: thread.loop)
            let output = try await child.output.collect(upTo: limit)
            #expect(String(decoding: output.bytes, as: UTF8.self) == expected)
            #expect(output.isComplete == isComplete)
            // Before its loop ends: a child that nobody reaps keeps the library for tests from noticing the ends of its own.
            #expect(try await child.exit().isSuccess)
        }
        let silent = try RunLoop.Child.start(["sleep", "1000"], output: .pipe, on: thread.loop)
        let collecting = Task { try await silent.output.collect(upTo: 10).bytes }
        collecting.cancel()
        await #expect(throws: CancellationError.self) { try await collecting.value }
        try await silent.end(by: [.kill])
    }

    @Test("Descriptors are files, the caller's, and the same as others; others than the standard ones as well")
    func streams() async throws {
        let thread = try RunLoop.Thread()
        let path = "/tmp/runloop-child-\(getpid())"
        defer { unlink(path) }
        var options = RunLoop.Child.Options()
        options.descriptors = [5: .pipe, 6: .inputPipe, 7: .file(path), 8: .null]
        let child = try RunLoop.Child.start(
            shell("cat <&6 >&5; echo line >&7; echo nothing >&8"), options: options, on: thread.loop)
        try await child.input(to: 6).write("through")
        try await child.input(to: 6).finish()
        #expect(try await child.output(from: 5).collect(upTo: 100).bytes == Array("through".utf8))
        #expect(try await child.exit().isSuccess)
        let appending = try RunLoop.Child.start(
            ["echo", "more"], output: .file(path, appending: true), on: thread.loop)
        #expect(try await appending.exit().isSuccess)
        let reading = try RunLoop.Child.start(
            shell("cat; echo complaint >&2"), input: .file(path), output: .pipe, error: .same(as: 1), on: thread.loop)
        #expect(try await reading.output.collect(upTo: 100).bytes == Array("line\nmore\ncomplaint\n".utf8))
        #expect(try await reading.exit().isSuccess)
        let (reader, writer) = try makePipe()
        defer { close(reader) }
        let writing = try RunLoop.Child.start(["echo", "direct"], output: .borrowing(writer), on: thread.loop)
        close(writer)
        #expect(try await writing.exit().isSuccess)
        #expect(readByte(reader))
    }

    @Test("A child has its environment, its folder, its group, its limits, and no signals but those that were named")
    func options() async throws {
        let thread = try RunLoop.Thread()
        var options = RunLoop.Child.Options()
        options.program = "sh"
        options.group = .newSession
        options.limits = [CInt(RLIMIT_CORE.rawValue): (0, 0)]
        options.ignoredSignals = [SIGHUP]
        let child = try RunLoop.Child.start(
            [
                "name", "-c",
                "echo $0 $A; pwd; ulimit -c; read stat < /proc/$$/stat; set -- $stat; [ $6 = $$ ] && echo leads; grep SigIgn /proc/self/status",
            ],
            output: .pipe, environment: ["A": "b c", "PATH": "/bin:/usr/bin"], workingDirectory: "/", options: options,
            on: thread.loop)
        let text = String(decoding: try await child.output.collect(upTo: 1_000).bytes, as: UTF8.self)
        #expect(text == "name b c\n/\n0\nleads\nSigIgn:\t0000000000000001\n")
        #expect(try await child.exit().isSuccess)
    }

    @Test("What can't be started is an error with its path, and leaves nothing")
    func refused() async throws {
        let thread = try RunLoop.Thread()
        func failure(_ start: () throws -> Void) throws -> RunLoop.Error {
            try #require(throws: RunLoop.Error.self) { try start() }
        }
        let missing = try failure { _ = try RunLoop.Child.start(["/no/program"], output: .pipe, on: thread.loop) }
        #expect(missing.errorNumber == ENOENT && missing.subject == "/no/program")
        #expect(missing.description.hasPrefix("/no/program: No such file"))
        let directory = try failure { _ = try RunLoop.Child.start(["/tmp"], on: thread.loop) }
        #expect(directory == .accessDenied && directory.subject == "/tmp")
        let folder = try failure { _ = try RunLoop.Child.start(["true"], workingDirectory: "/no", on: thread.loop) }
        #expect(folder.errorNumber == ENOENT && folder.subject == "/no")
        let file = try failure { _ = try RunLoop.Child.start(["true"], input: .file("/no/file"), on: thread.loop) }
        #expect(file.errorNumber == ENOENT && file.subject == "/no/file")
        let closed = try failure { _ = try RunLoop.Child.start(["true"], input: .borrowing(.max), on: thread.loop) }
        #expect(closed == .badDescriptor && closed.subject == "descriptor 0")
        var killed = RunLoop.Child.Options()
        killed.ignoredSignals = [SIGKILL]
        for (arguments, error, options, subject) in [
            ([], .null, .init(), "no arguments"), (["echo", "a\0b"], .null, .init(), "argument 1, which has a NUL"),
            (["true"], .same(as: 9), .init(), "descriptor 2"), (["true"], .null, killed, "signal 9"),
        ] as [([String], RunLoop.Child.Stream, RunLoop.Child.Options, String)] {
            let refused = try failure {
                _ = try RunLoop.Child.start(arguments, error: error, options: options, on: thread.loop)
            }
            #expect(refused == .invalid && refused.subject == subject)
            #expect(refused.description == "\(subject): This can't be, or makes no sense.")
        }
        let loop = thread.loop
        thread.stop()
        await thread.join()
        #expect(throws: RunLoop.Error.loopFinished) { _ = try RunLoop.Child.start(["true"], on: loop) }
    }

    @Test(
        "A grandchild that keeps the pipe does not hang its reader: after the limit what is there is read, and then it is cut off"
    )
    func grandchild() async throws {
        let thread = try RunLoop.Thread()
        var options = RunLoop.Child.Options()
        options.outputLimit = .milliseconds(200)
        // The pipe is full with these, and its reader comes late.
        let child = try RunLoop.Child.start(
            shell("sleep 1000 & echo $!; head -c 60000 /dev/zero; exit 0"), output: .pipe, options: options,
            on: thread.loop)
        let begun = RunLoop.Instant.now
        #expect(try await child.exit().isSuccess)
        let reader = child.output.reader()
        let grandchild = try #require(Int32(try await reader.line() ?? ""))
        defer { kill(grandchild, SIGKILL) }
        var count = 0
        await #expect(throws: RunLoop.Error.outputCutOff) {
            while let chunk = try await reader.chunk() { count += chunk.count }
        }
        #expect(count == 60_000)
        #expect(.now >= begun + .milliseconds(200))
        #expect(kill(grandchild, 0) == 0)
        await #expect(throws: RunLoop.Error.outputCutOff) { try await reader.chunk() }
        // Another reader, which begins after the limit.
        #expect(try await child.output.collect(upTo: 1).isComplete == false)
    }

    @Test(
        "A slow reader gets all that the child has written, and a grandchild that writes for ever does not go on for ever"
    )
    func slowReader() async throws {
        let thread = try RunLoop.Thread()
        var options = RunLoop.Child.Options()
        options.outputLimit = .milliseconds(50)
        let child = try RunLoop.Child.start(
            shell("head -c 50000 /dev/zero"), output: .pipe, options: options, on: thread.loop)
        #expect(try await child.exit().isSuccess)
        try await Task.sleep(for: .milliseconds(150))
        #expect(try await child.output.collect(upTo: 100_000).bytes.count == 50_000)
        let endless = try RunLoop.Child.start(shell("yes & echo $!"), output: .pipe, options: options, on: thread.loop)
        let reader = endless.output.reader()
        var grandchild: Int32 = 0
        await #expect(throws: RunLoop.Error.outputCutOff) {
            for try await line in reader.lines() where line != "y" { grandchild = Int32(line) ?? grandchild }
        }
        kill(grandchild, SIGKILL)
        #expect(grandchild > 0)
        #expect(try await endless.exit().isSuccess)
    }

    @Test("A loop that has ended starts nothing, and one that goes on keeps nothing of a child that has ended")
    func loops() async throws {
        try await withRunLoopThread {
            let (loop, mode) = (RunLoop.current, RunLoop.Mode("child"))
            let child = try RunLoop.Child.start(["true"], on: loop, inMode: mode)
            loop.run(mode: mode, until: { child.exitIfEnded != nil }, deadline: .now + generous)
            #expect(child.exitIfEnded?.isSuccess == true)
            #expect(loop.isEmpty(inMode: mode))
        }
        let thread = try RunLoop.Thread()
        thread.stop()
        await thread.join()
        #expect(throws: RunLoop.Error.loopFinished) { try RunLoop.Child.start(["/no/program"], on: thread.loop) }
    }

    @Test("A child is ended politely, and then not, also by a task that is cancelled")
    func ends() async throws {
        let thread = try RunLoop.Thread()
        let polite = try RunLoop.Child.start(["sleep", "1000"], on: thread.loop)
        #expect(try await polite.end().reason == .signalled(SIGTERM, dumpedCore: false))
        // Again, from the past.
        #expect(try await polite.end().reason == .signalled(SIGTERM, dumpedCore: false))
        #expect(throws: RunLoop.Error.noSuchProcess) { try polite.beginEnd() }

        let stubborn = try RunLoop.Child.start(
            shell("trap '' TERM; echo ready; exec sleep 1000"), output: .pipe, on: thread.loop)
        #expect(try await stubborn.output.reader().line() == "ready")
        let begun = RunLoop.Instant.now
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await stubborn.end(by: [.terminate(pause: .milliseconds(100)), .kill])
        }
        #expect(try await cancelled.value.reason == .signalled(SIGKILL, dumpedCore: false))
        #expect(.now >= begun + .milliseconds(100))
    }

    @Test("The group of a child is ended, and a sequence that makes no sense is refused")
    func endsGroup() async throws {
        let thread = try RunLoop.Thread()
        var options = RunLoop.Child.Options()
        options.group = .new
        let child = try RunLoop.Child.start(
            shell("sleep 1000 & echo $!; wait"), output: .pipe, options: options, on: thread.loop)
        let grandchild = try #require(Int32(try await child.output.reader().line() ?? ""))
        #expect(throws: RunLoop.Error.invalid) { try child.beginEnd(by: []) }
        #expect(throws: RunLoop.Error.invalid) { try child.beginEnd(by: [.terminate(pause: .seconds(-1))]) }
        try await child.end(ofGroup: true)
        // Nobody may wait for it here, so it may remain as a zombie, which is no more what it was.
        #expect(try await eventually { !Processes.isAlive(grandchild, executing: "sleep") })
        let plain = try RunLoop.Child.start(["sleep", "1000"], on: thread.loop)
        #expect(throws: RunLoop.Error.invalid) { try plain.beginEnd(ofGroup: true) }
        try await plain.end(by: [.kill])
    }

    @Test("An object that is freed closes its pipes, and the loop reaps the child")
    func destroyed() async throws {
        let thread = try RunLoop.Thread()
        let ended = Handed<RunLoop.Child.Exit>()
        do { _ = try RunLoop.Child.start(["cat"], input: .pipe, output: .pipe, on: thread.loop) { ended.put($0) } }
        let exit = try await withRunLoopThread { ended.take() }
        #expect(exit?.reason == .exited(0))
        #expect(waitpid(try #require(exit?.process), nil, WNOHANG) == -1)
    }

    @Test("A shutdown ends a child before the program")
    func shutdown() async throws {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            try await withRunLoopThread {
                let shutdown = try RunLoop.Shutdown(signals: [SIGTERM], within: .seconds(60), on: .current)
                let child = try RunLoop.Child.start(["sleep", "1000"], on: .current)
                shutdown.addEnd(of: child)
                let process = child.process
                shutdown.addWork(order: 1) { if kill(process, 0) == 0 { _exit(9) } }
                kill(getpid(), SIGTERM)
                RunLoop.current.run(mode: .default, for: .seconds(30))
            }
        }
    }

    @Test("A shutdown does not wait for a child that it can't end")
    func shutdownRefused() async throws {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            try await withRunLoopThread {
                let shutdown = try RunLoop.Shutdown(signals: [SIGTERM], on: .current)
                let child = try RunLoop.Child.start(["sleep", "1000"], on: .current)
                shutdown.addEnd(of: child, ofGroup: true)
                shutdown.addEnd(of: child, by: [])
                let process = child.process
                shutdown.addWork(order: 1) { kill(process, SIGKILL) }
                kill(getpid(), SIGTERM)
                RunLoop.current.run(mode: .default, for: .seconds(30))
            }
        }
    }

    @Test("A shutdown does not wait for a child that is not watched any more")
    func shutdownWithoutChild() async throws {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            try await withRunLoopThread {
                let loop = RunLoop.current
                let shutdown = try RunLoop.Shutdown(signals: [SIGTERM], on: loop)
                let process = try startShell("exec sleep 1000")
                let child = Guarded<RunLoop.Child?>(try RunLoop.Child(watching: process, on: loop))
                // While the loop waits for its end.
                shutdown.addWork(order: -1) { loop.perform { child.withLock { $0 = nil } } }
                child.withLock { child in
                    if let child { shutdown.addEnd(of: child, by: [.signal(SIGCONT, pause: .seconds(1000)), .kill]) }
                }
                shutdown.addWork(order: 1) { kill(process, SIGKILL) }
                kill(getpid(), SIGTERM)
                loop.run(mode: .default, for: .seconds(30))
            }
        }
    }

    @Test("The pipe of a descriptor that is none is a mistake of the program")
    func noPipe() async throws {
        await #expect(processExitsWith: .failure) {
            let thread = try RunLoop.Thread()
            _ = try RunLoop.Child.start(["true"], on: thread.loop).output
        }
        await #expect(processExitsWith: .failure) {
            let thread = try RunLoop.Thread()
            _ = try RunLoop.Child.start(["true"], output: .pipe, on: thread.loop).input
        }
    }
}

private func shell(_ command: String) -> [String] { ["sh", "-c", command] }

/// What is known of processes.
private enum Processes {
    /// Does it run, and is no zombie? Its number may be another process's by now, or a thread's: simulations begin more threads than there are
    /// numbers.
    static func isAlive(_ process: Int32, executing program: String) -> Bool {
        guard let file = fopen("/proc/\(process)/stat", "r") else { return false }
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 512)
        guard fgets(&text, 512, file) != nil else { return false }
        let line = text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        return line.contains("(\(program)) ") && !line.contains(") Z")
    }
}
