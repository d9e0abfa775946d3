import FaultDriver
import Glibc
import RunLoopKit
import RunLoopKitLinux

func aTaskThatSleeps() -> outcome {
    attemptInTask {
        try await RunLoop.main.clock.sleep(for: .milliseconds(1))
        let value = try await RunLoop.main.performAndWait { 7 }
        return value == 7
    }
}

func ticksInATask() -> outcome {
    attemptInTask {
        var count = 0
        for await _ in RunLoop.main.ticks(every: .milliseconds(1)) {
            count += 1
            if count == 3 { break }
        }
        return count == 3
    }
}

func signalsInATask() -> outcome {
    attemptInTask {
        // A signal that ends no process before the task waits for it.
        let signals = RunLoop.main.signals(SIGWINCH)
        let timer = RunLoop.Timer(every: .milliseconds(2)) { _ in own { must(raise(SIGWINCH) == 0) } }
        defer { timer.invalidate() }
        try RunLoop.main.add(timer, forMode: .common)
        for try await signal in signals { return signal.number == SIGWINCH }
        return false
    }
}

func aPort() -> outcome {
    attemptInTask {
        let port = try RunLoop.Port<Int, Int>(on: .main) { message in
            let number = message.request
            message.reply(number + 1)
        }
        defer { port.invalidate() }
        try port.send(1)
        return try await port.request(41) == 42
    }
}

func linesOfASocket() -> outcome {
    let (near, far) = makePair()
    defer { end(near, far) }
    return attemptInTask {
        own { must(send(far, "hello\nworld\n", 12, 0) == 12 && shutdown(far, CInt(SHUT_WR)) == 0) }
        var lines: [String] = []
        for try await line in RunLoop.main.lines(of: near) { lines.append(line) }
        return lines == ["hello", "world"]
    }
}

func aReader() -> outcome {
    let (near, far) = makePair()
    defer { end(near, far) }
    return attemptInTask {
        own { must(send(far, "hello\nworld", 11, 0) == 11 && shutdown(far, CInt(SHUT_WR)) == 0) }
        let reader = RunLoop.Reader(borrowing: near, on: .main)
        let line = try await reader.line()
        let chunk = try await reader.chunk()
        return line == "hello" && chunk.map(Array.init) == Array("world".utf8)
    }
}

func aWriter() -> outcome {
    let (near, far) = makePair()
    defer { end(near, far) }
    return attemptInTask {
        let writer = try RunLoop.Writer(borrowing: near, on: .main)
        defer { writer.invalidate() }
        try await writer.write("hello")
        let isWritten = try await writer.finish()
        var bytes = [UInt8](repeating: 0, count: 8)
        let count = own { recv(far, &bytes, 8, CInt(MSG_DONTWAIT)) }
        return isWritten && count == 5
    }
}

func aConnection() -> outcome {
    attemptInTask {
        let address = RunLoop.Listener.Address.abstract(makeName())
        let shortage = Count()
        let listener = try RunLoop.Listener(
            address, on: .main, onResourceShortage: { shortage.add(Int($0?.errorNumber ?? 0)) })
        defer { listener.invalidate() }
        let client = try await RunLoop.Connection.connect(to: address, within: .seconds(1), on: .main)
        defer { client.abort() }
        // Without a connection the listener says why.
        let watch = Task { @MainActor in
            while shortage.value == 0 { try await RunLoop.main.clock.sleep(for: .milliseconds(5)) }
            listener.invalidate()
        }
        defer { watch.cancel() }
        var accepted: RunLoop.Connection?
        for try await connection in listener.connections {
            accepted = connection
            break
        }
        if accepted == nil && shortage.value > 0 { throw RunLoop.Error(errorNumber: CInt(shortage.value)) }
        defer { accepted?.abort() }
        try await client.writer.write("hello\n")
        let line = try await accepted?.makeReader().line()
        return line == "hello"
    }
}

func aStartedChild() -> outcome {
    attemptInTask {
        let child = try RunLoop.Child.start(["/bin/sh", "-c", "echo hello; exit 3"], output: .pipe, on: .main)
        let output = child.output(from: 1)
        var lines: [String] = []
        for try await line in output.lines() { lines.append(line) }
        let exit = try await child.exit()
        if exit.reason == .unknown { throw RunLoop.Error(errorNumber: ECHILD) }
        return lines == ["hello"] && exit.reason == .exited(3)
    }
}

func aChildThatIsEnded() -> outcome {
    attemptInTask {
        let child = try RunLoop.Child.start(["/bin/sh", "-c", "exec sleep 60"], on: .main)
        let exit: RunLoop.Child.Exit
        do {
            exit = try await child.end()
        } catch {
            own { must(kill(child.process, SIGKILL) == 0) }
            _ = try await child.exit()
            throw error
        }
        if exit.reason == .unknown { throw RunLoop.Error(errorNumber: ECHILD) }
        return exit.reason == .signalled(SIGTERM, dumpedCore: false)
    }
}

func aChannel() -> outcome {
    let path = "/tmp/\(makeName())"
    defer { unlink(path) }
    return attemptInTask {
        let listener = try RunLoop.Channel.Listener(on: path, of: .main) { _, message in
            _ = try? message.reply(message.bytes)
        }
        defer { listener.invalidate() }
        let channel = try RunLoop.Channel(connectingTo: path, on: .main)
        defer { channel.invalidate() }
        let reply = try await channel.request(Array("hello".utf8), timeout: .seconds(1))
        return reply.bytes.elementsEqual("hello".utf8)
    }
}
