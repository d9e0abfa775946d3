import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

@Suite struct ReaderTests {
    @Test("Lines, chunks and bytes are read in turns, and nothing is lost between them, however small the buffer is")
    func turns() async throws {
        let thread = try RunLoop.Thread()
        for size in [1, 2, 3, 7, 4096] {
            let (reader, writer) = try makePipe()
            send("GET /\r\nhost: a\n\nbody 1\nbody 2\n", to: writer)
            close(writer)
            let input = RunLoop.Reader(borrowing: reader, on: thread.loop, bufferSize: size)
            var header: [String] = []
            for try await line in input.lines() {
                if line.isEmpty { break }
                header.append(line)
            }
            #expect(header == ["GET /", "host: a"])
            #expect(try await input.byte() == UInt8(ascii: "b"))
            var body: [UInt8] = []
            for try await byte in input.bytes {
                body.append(byte)
                if body.count == 3 { break }
            }
            while body.count < 8, let chunk = try await input.chunk(upTo: 8 - body.count) { body += chunk }
            #expect(String(decoding: body, as: UTF8.self) == "ody 1\nbo")
            #expect(try await input.line() == "dy 2")
            for try await chunk in input.chunks { Issue.record("\(chunk)") }
            #expect(try await input.line() == nil)
            close(reader)
        }
    }

    @Test("Line ends and limits are those of lines(of:)")
    func lines() async throws {
        let thread = try RunLoop.Thread()
        for size in [1, 2, 3, 5, 64] {
            for (text, lines) in [
                ("", []), ("\n\r\n", ["", ""]), ("a\rb\n\rc\r\r\nd\r", ["a\rb", "\rc\r", "d\r"]), ("日本\n", ["日本"]),
            ] {
                let reader = try pipe(with: text)
                let input = RunLoop.Reader(borrowing: reader, on: thread.loop, bufferSize: size)
                var read: [String] = []
                for try await line in input.lines(limit: 6) { read.append(line) }
                #expect(read.map { Array($0.utf8) } == lines.map { Array($0.utf8) })
                close(reader)
            }
        }
    }

    @Test("A chunk of an exact size comes whole, in whatever pieces it arrives, and fewer bytes at the end stay")
    func exactly() async throws {
        let thread = try RunLoop.Thread()
        for size in [1, 2, 3, 7, 4096] {
            let reader = try pipe(with: "0123a\n4567 89")
            let input = RunLoop.Reader(borrowing: reader, on: thread.loop, bufferSize: size)
            #expect(try await input.chunk(exactly: 4) == Array("0123".utf8))
            #expect(try await input.line() == "a")
            #expect(try await input.chunk(exactly: 1) == Array("4".utf8))
            #expect(try await input.chunk(exactly: 3) == Array("567".utf8))
            #expect(try await input.chunk(exactly: 4) == nil)
            #expect(try await input.chunk(exactly: 2) == Array(" 8".utf8))
            #expect(try await input.line() == "9")
            #expect(try await input.chunk(exactly: 1) == nil)
            close(reader)
        }
    }

    @Test("What a chunk of an exact size lacked bytes for is there for lines, however many it has")
    func exactlyThenLines() async throws {
        let thread = try RunLoop.Thread()
        for size in [1, 3, 4096] {
            let reader = try pipe(with: "one\r\ntwo\nthree\nfour")
            let input = RunLoop.Reader(borrowing: reader, on: thread.loop, bufferSize: size)
            #expect(try await input.chunk(exactly: 100) == nil)
            #expect(try await input.line() == "one")
            #expect(try await input.skipLine())
            await #expect(throws: RunLoop.Error.lineTooLong) { try await input.line(limit: 4) }
            #expect(try await input.line(limit: 5) == "three")
            #expect(try await input.chunk(exactly: 2) == Array("fo".utf8))
            #expect(try await input.line() == "ur")
            #expect(try await input.line() == nil)
            close(reader)
        }
    }

    @Test("A wait for an exact number of bytes that is cancelled has taken none of them")
    func exactlyCancelled() async throws {
        let thread = try RunLoop.Thread()
        let (reader, writer) = try makePipe()
        send("ab", to: writer)
        let input = RunLoop.Reader(borrowing: reader, on: thread.loop)
        await #expect(throws: RunLoop.Error.timedOut) {
            try await thread.loop.withTimeout(.milliseconds(20)) { try await input.chunk(exactly: 4) }
        }
        send("cd", to: writer)
        #expect(try await input.chunk(exactly: 4) == Array("abcd".utf8))
        close(reader)
        close(writer)
    }

    @Test("A line that is too long stays, for a larger limit or for chunks")
    func tooLong() async throws {
        let thread = try RunLoop.Thread()
        for size in [1, 2, 4, 5, 6, 7, 64] {
            for end in ["\n", "\r\n", ""] {
                let reader = try pipe(with: "12345" + end)
                let input = RunLoop.Reader(borrowing: reader, on: thread.loop, bufferSize: size)
                await #expect(throws: RunLoop.Error.lineTooLong) { try await input.line(limit: 4) }
                #expect(try await input.line(limit: 5) == "12345")
                close(reader)
            }
            let reader = try pipe(with: "12345\r6\n")
            let input = RunLoop.Reader(borrowing: reader, on: thread.loop, bufferSize: size)
            var lines = input.lines(limit: 5).makeAsyncIterator()
            await #expect(throws: RunLoop.Error.lineTooLong) { try await lines.next(isolation: nil) }
            #expect(try await lines.next(isolation: nil) == nil)
            var rest: [UInt8] = []
            for try await chunk in input.chunks { rest += chunk }
            #expect(rest == Array("12345\r6\n".utf8))
            close(reader)
        }
    }

    @Test("A line that is too long can be skipped, whatever the size of the buffer is")
    func skipped() async throws {
        let thread = try RunLoop.Thread()
        for size in [1, 3, 7, 64] {
            let reader = try pipe(with: "1234567890\nnext\n1234567890")
            let input = RunLoop.Reader(borrowing: reader, on: thread.loop, bufferSize: size)
            await #expect(throws: RunLoop.Error.lineTooLong) { try await input.line(limit: 5) }
            #expect(try await input.skipLine())
            #expect(try await input.line(limit: 5) == "next")
            await #expect(throws: RunLoop.Error.lineTooLong) { try await input.line(limit: 5) }
            #expect(try await !input.skipLine())
            #expect(try await input.line() == nil)
            close(reader)
        }
    }

    @Test("A cancelled wait loses neither the beginning of its line nor what follows")
    func cancelledWait() async throws {
        let thread = try RunLoop.Thread()
        let (reader, writer) = try makePipe()
        let place = ReadingPlace(RunLoop.Reader(borrowing: reader, on: thread.loop))
        send("first\nsec", to: writer)
        #expect(try await place.line() == "first")
        let waiting = Task { try await place.line() }
        waiting.cancel()
        #expect(try await waiting.value == nil)
        send("ond\nthird", to: writer)
        #expect(try await place.line() == "second")
        close(writer)
        #expect(try await place.line() == "third")
        close(reader)
    }

    @Test("A wait that is cancelled has left the loop at once, though its task goes on later")
    func cancelledAtOnce() async throws {
        try await withRunLoopThread {
            let (loop, mode) = (RunLoop.current, RunLoop.Mode("input"))
            let (reader, writer) = try makePipe()
            let task = Task(executorPreference: loop.taskExecutor) {
                for try await _ in loop.bytes(of: reader, inMode: mode) { Issue.record("There is no input.") }
            }
            while loop.isEmpty(inMode: mode) { loop.run(mode: .default, for: .milliseconds(1)) }
            task.cancel()
            #expect(loop.isEmpty(inMode: mode))
            loop.run(mode: .default, for: .zero)
            close(reader)
            close(writer)
        }
    }

    @Test("A task that is cancelled after its line has been read takes the line, and the next one what follows")
    func lateCancellation() async throws {
        let (thread, slow) = (try RunLoop.Thread(), try RunLoop.Thread())
        let (reader, writer) = try makePipe()
        let place = ReadingPlace(RunLoop.Reader(borrowing: reader, on: thread.loop))
        let waiting = Task(executorPreference: slow.loop.taskExecutor) { try await place.line() }
        #expect(try await eventually { place.calls.value == 1 })
        // The task waits, and its thread is busy, so that it goes on some time after it has been resumed.
        let (isBusy, isFree) = (Count(), Count())
        slow.loop.perform {
            isBusy.increment()
            _ = waitUntil { isFree.value == 1 }
        }
        #expect(try await eventually { isBusy.value == 1 })
        send("first\n", to: writer)
        #expect(try await eventually { unreadCount(of: reader) == 0 })
        waiting.cancel()
        isFree.increment()
        #expect(try await waiting.value == "first")
        send("second\n", to: writer)
        #expect(try await place.line() == "second")
        close(writer)
        close(reader)
    }

    @Test("A file that has grown is read on after its end, and errors are thrown by every call")
    func growthAndErrors() async throws {
        let thread = try RunLoop.Thread()
        var path = Array("/tmp/runloop-reader-XXXXXX".utf8CString)
        let file = mkstemp(&path)
        try #require(file >= 0)
        unlink(path)
        let input = RunLoop.Reader(borrowing: file, on: thread.loop)
        #expect(try await input.chunk() == nil)
        var ended = input.chunks.makeAsyncIterator()
        #expect(try await ended.next(isolation: nil) == nil)
        #expect(pwrite(file, "more\n", 5, 0) == 5)
        // That iteration had come to its end.
        #expect(try await ended.next(isolation: nil) == nil)
        #expect(try await input.line() == "more")
        close(file)
        let closed = RunLoop.Reader(borrowing: -7, on: thread.loop)
        for _ in 0..<2 {
            await #expect(throws: RunLoop.Error.badDescriptor) { try await closed.chunk() }
        }
        let (end, writer) = try makePipe()
        let late = RunLoop.Reader(borrowing: end, on: thread.loop)
        thread.stop()
        await thread.join()
        await #expect(throws: RunLoop.Error.loopFinished) { try await late.byte() }
        close(end)
        close(writer)
    }
}

/// Keeps a reader, which is for one task at a time.
private actor ReadingPlace {
    private let reader: RunLoop.Reader
    /// How many have begun.
    let calls = Count()

    init(_ reader: sending RunLoop.Reader) {
        self.reader = reader
    }

    func line() async throws -> String? {
        calls.increment()
        return try await reader.line()
    }
}

private func unreadCount(of descriptor: CInt) -> CInt {
    var count: CInt = 0
    return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? count : -1
}

private func send(_ text: String, to descriptor: CInt) {
    #expect(write(descriptor, text, text.utf8.count) == text.utf8.count)
}

private func pipe(with text: String) throws -> CInt {
    let (reader, writer) = try makePipe()
    send(text, to: writer)
    close(writer)
    return reader
}
