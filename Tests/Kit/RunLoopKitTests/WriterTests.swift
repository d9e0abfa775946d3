import Glibc
import RunLoopKit
import RunLoopKitLinux
import Synchronization
import Testing

@Suite struct WriterTests {
    @Test("Random pieces of several hundred thousand bytes arrive whole and in order, within the limit")
    func integrity() async throws {
        let thread = try RunLoop.Thread()
        for limit in [1, 7, 5000, 65_536] {
            let (reader, output) = try limit == 7 ? makePipe() : makeSocketPair()
            let writer = try RunLoop.Writer(adopting: output, on: thread.loop, limit: limit)
            let total = limit < 100 ? 20_000 : 300_000
            let sent = (0..<total).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) }
            let writing = Task { () async throws in
                var random = SystemRandomNumberGenerator()
                var start = 0
                while start < total {
                    let count = min(Int.random(in: 1...20_000, using: &random), total - start)
                    #expect(try await writer.write(sent[start..<start + count]) == count)
                    #expect(writer.waitingCount <= limit)
                    start += count
                }
                #expect(try await writer.finish())
            }
            var received: [UInt8] = []
            for try await chunk in thread.loop.chunks(of: reader, bufferSize: 7919) { received += chunk }
            try await writing.value
            #expect(received == sent)
            #expect(writer.waitingCount == 0)
            await #expect(throws: RunLoop.Error.brokenPipe) { try await writer.write("x") }
            #expect(try await writer.finish())
            close(reader)
        }
    }

    @Test("A collection that is computed may use the writer that it is written to", .timeLimit(.minutes(10)))
    func computed() async throws {
        let thread = try RunLoop.Thread()
        let (reader, output) = try makeSocketPair()
        let writer = try RunLoop.Writer(adopting: output, on: thread.loop, limit: 100)
        let text = "text".utf8.lazy.map { byte in
            #expect((try? writer.enqueue("no")) != nil)
            return byte
        }
        #expect(try await writer.write(text) == 4)
        #expect(try writer.enqueue("more".utf8.lazy.map { $0 + UInt8(writer.waitingCount * 0) }))
        // The kernel may call a socket full that has taken a few small pieces, so somebody reads meanwhile.
        let isFinished = Task { try await writer.finish() }
        var received = ""
        for try await line in thread.loop.lines(of: reader) { received += line }
        #expect(try await isFinished.value)
        #expect(received.hasSuffix("more") && received.contains("text"))
        close(reader)
    }

    @Test("Nobody waits for a reader that is fast, and what was enqueued is sent without a flush")
    func fast() async throws {
        let thread = try RunLoop.Thread()
        let (reader, output) = try makeSocketPair()
        let writer = try RunLoop.Writer(borrowing: output, on: thread.loop, limit: 10)
        #expect(try await writer.write("hello") == 5)
        #expect(writer.waitingCount == 0)
        #expect(try writer.enqueue("a"))
        #expect(try writer.enqueue([UInt8(ascii: "b")]))
        #expect(throws: RunLoop.Error.outputTooLarge) { try writer.enqueue("01234567890") }
        let input = RunLoop.Reader(borrowing: reader, on: thread.loop)
        var text: [UInt8] = []
        while text.count < 7, let chunk = try await input.chunk() { text += chunk }
        #expect(String(decoding: text, as: UTF8.self) == "helloab")
        #expect(try await writer.flush())
        writer.invalidate()
        #expect(!writer.isValid)
        #expect(throws: RunLoop.Error.invalid) { try writer.enqueue("x") }
        close(reader)
        close(output)
    }

    @Test(
        "A slow reader holds a task back at the limit, and a cancelled write reports how much was accepted, which is sent"
    )
    func slowReader() async throws {
        let thread = try RunLoop.Thread()
        let (reader, output) = try makeSocketPair()
        let writer = try RunLoop.Writer(adopting: output, on: thread.loop, limit: 1000)
        let writing = Task { try await writer.write([UInt8](repeating: 7, count: 1_000_000)) }
        #expect(try await eventually { writer.waitingCount == 1000 })
        #expect(try !writer.enqueue("x"))
        writing.cancel()
        let accepted = try await writing.value
        #expect(accepted > 1000 && accepted < 1_000_000)
        #expect(try !writer.enqueue("x"))
        let flushing = Task { try await writer.flush() }
        let finishing = Task { try await writer.finish() }
        var count = 0
        for try await chunk in thread.loop.chunks(of: reader) { count += chunk.count }
        #expect(count == accepted)
        #expect(try await flushing.value)
        #expect(try await finishing.value)
        close(reader)
    }

    @Test("Writes of several tasks are not mixed, however small the buffer is")
    func wholeWrites() async throws {
        let thread = try RunLoop.Thread()
        let (reader, output) = try makeSocketPair()
        let writer = try RunLoop.Writer(adopting: output, on: thread.loop, limit: 10)
        let writing = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for letter in "abcdefgh" {
                    group.addTask {
                        for _ in 0..<20 { try await writer.write(String(repeating: letter, count: 3000) + "\n") }
                    }
                }
                try await group.waitForAll()
            }
            try await writer.finish()
        }
        var lines = 0
        for try await line in thread.loop.lines(of: reader) {
            #expect(line.utf8.count == 3000 && Set(line.utf8).count == 1)
            lines += 1
        }
        #expect(lines == 160)
        try await writing.value
        close(reader)
    }

    @Test(
        "A peer that goes while output waits ends every wait and every further call with its error",
        arguments: [true, false])
    func peerGone(isSocket: Bool) async throws {
        let thread = try RunLoop.Thread()
        let (reader, output) = try isSocket ? makeSocketPair() : makePipe()
        let writer = try RunLoop.Writer(adopting: output, on: thread.loop, limit: 1000)
        let writing = Task { try await writer.write([UInt8](repeating: 7, count: 1_000_000)) }
        #expect(try await eventually { writer.waitingCount == 1000 })
        let waiting = Task { try await writer.write("second") }
        close(reader)
        for task in [writing, waiting] {
            let error = await #expect(throws: RunLoop.Error.self) { try await task.value }
            #expect(error == .brokenPipe || error == .connectionReset)
        }
        await #expect(throws: RunLoop.Error.self) { try await writer.flush() }
        #expect(throws: RunLoop.Error.self) { try writer.enqueue("x") }
    }

    @Test("Half a socket is finished, and the other half goes on")
    func halfClose() async throws {
        let thread = try RunLoop.Thread()
        let (one, other) = try makeSocketPair()
        let (writer, answers) = (
            try RunLoop.Writer(borrowing: one, on: thread.loop), RunLoop.Reader(borrowing: one, on: thread.loop)
        )
        let peer = try RunLoop.Writer(borrowing: other, on: thread.loop)
        try await writer.write("question\n")
        try await writer.finish()
        for try await line in thread.loop.lines(of: other) { #expect(line == "question") }
        try await peer.write("answer\n")
        #expect(try await answers.line() == "answer")
        try await peer.finish()
        #expect(try await answers.line() == nil)
        writer.invalidate()
        peer.invalidate()
        close(one)
        close(other)
    }

    @Test("Files and /dev/null are written at once, and a full device is an error")
    func files() async throws {
        let thread = try RunLoop.Thread()
        var path = Array("/tmp/runloop-writer-XXXXXX".utf8CString)
        let file = mkstemp(&path)
        try #require(file >= 0)
        unlink(path)
        let writer = try RunLoop.Writer(borrowing: file, on: thread.loop, limit: 10)
        #expect(try await writer.write([UInt8](repeating: 1, count: 100_000)) == 100_000)
        #expect(try writer.enqueue("0123456789"))
        #expect(try await writer.finish())
        #expect(lseek(file, 0, SEEK_END) == 100_010)
        writer.invalidate()
        close(file)
        let null = try RunLoop.Writer(adopting: open("/dev/null", O_WRONLY), on: thread.loop)
        #expect(try await null.write("nothing") == 7)
        let full = try RunLoop.Writer(adopting: open("/dev/full", O_WRONLY), on: thread.loop)
        let error = await #expect(throws: RunLoop.Error.self) { try await full.write("nothing") }
        #expect(error == .noSpaceLeft && error != .tooManyWatches && error?.errorNumber == ENOSPC)
        #expect(throws: RunLoop.Error.badDescriptor) { try RunLoop.Writer(borrowing: -1, on: thread.loop) }
    }

    @Test("The end of the loop's thread ends waits, and so does the end of the writer")
    func ends() async throws {
        for endsLoop in [true, false] {
            let thread = try RunLoop.Thread()
            let (reader, output) = try makeSocketPair()
            let writer = try RunLoop.Writer(adopting: output, on: thread.loop, limit: 100)
            let writing = Task { try await writer.write([UInt8](repeating: 7, count: 1_000_000)) }
            #expect(try await eventually { writer.waitingCount == 100 })
            let flushing = Task(executorPreference: thread.loop.taskExecutor) { try await writer.flush() }
            await tasksWait(of: thread.loop)
            if endsLoop {
                thread.stop()
                await thread.join()
            } else {
                writer.invalidate()
            }
            let error = endsLoop ? RunLoop.Error.loopFinished : .invalid
            await #expect(throws: error) { try await writing.value }
            await #expect(throws: error) { try await flushing.value }
            await #expect(throws: error) { try await writer.write("x") }
            // The first reason is the one that stays.
            writer.invalidate()
            await #expect(throws: error) { try await writer.write("x") }
            if endsLoop { #expect(throws: error) { try RunLoop.Writer(borrowing: reader, on: thread.loop) } }
            close(reader)
        }
    }

    @Test("A flush waits for what was written before it, though the loop still has to report earlier output")
    func flushAgain() async throws {
        let thread = try RunLoop.Thread()
        let (output, reader) = try makeSocketPair()
        let writer = try RunLoop.Writer(adopting: output, on: thread.loop, limit: 2_000_000)
        let reading = TestThread {
            var (buffer, query) = ([UInt8](repeating: 0, count: 65_536), pollfd(fd: reader, events: 1, revents: 0))
            repeat { poll(&query, 1, -1) } while read(reader, &buffer, buffer.count) > 0
        }
        let bytes = [UInt8](repeating: 7, count: 300_000)
        var left: [Int] = []
        for round in 0..<1_000 where left.isEmpty {
            #expect(try writer.enqueue(bytes))
            // The loop has sent that at about the time at which there is more.
            let start = ContinuousClock.now
            while ContinuousClock.now - start < .microseconds(round % 300) {}
            #expect(try writer.enqueue(bytes))
            #expect(try await writer.flush())
            if writer.waitingCount > 0 { left.append(round) }
        }
        #expect(left == [])
        writer.invalidate()
        try await withRunLoopThread { reading.join() }
        close(reader)
    }

    @Test("A flush ends when its own output was sent, though others always have more to send")
    func flushAmongOthers() async throws {
        let thread = try RunLoop.Thread()
        let (reader, output) = try makePipe()
        // F_SETPIPE_SZ
        let capacity = Int(fcntl(output, 1031, 4096))
        let writer = try RunLoop.Writer(adopting: output, on: thread.loop, limit: 1_000_000)
        #expect(try writer.enqueue([UInt8](repeating: 1, count: 2 * capacity)))
        #expect(try await eventually { writer.waitingCount == capacity })
        let isFlushed = Count()
        let flushing = Task { () async throws in
            if try await writer.flush() { isFlushed.increment() }
        }
        // There is always more than the pipe takes.
        let isOver = try await eventually {
            var buffer = [UInt8](repeating: 2, count: capacity)
            _ = try? writer.enqueue(buffer)
            _ = read(reader, &buffer, capacity)
            return isFlushed.value == 1
        }
        #expect(isOver)
        #expect(writer.waitingCount > 0)
        writer.invalidate()
        _ = await flushing.result
        close(reader)
    }

    @Test("A terminal is read and written")
    func terminal() async throws {
        let thread = try RunLoop.Thread()
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var (isLocked, number): (CInt, CInt) = (0, 0)
        let (setsLock, getsNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)  // TIOCSPTLCK, TIOCGPTN
        try #require(ioctl(master, setsLock, &isLocked) == 0)
        try #require(ioctl(master, getsNumber, &number) == 0)
        let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(slave >= 0)
        let keyboard = try RunLoop.Writer(borrowing: master, on: thread.loop)
        let screen = try RunLoop.Writer(borrowing: slave, on: thread.loop)
        let input = RunLoop.Reader(borrowing: slave, on: thread.loop)
        try await keyboard.write("typed\n")
        #expect(try await input.line() == "typed")
        try await screen.write("shown\n")
        let shown = RunLoop.Reader(borrowing: master, on: thread.loop)
        #expect(try await shown.line() == "typed")
        #expect(try await shown.line() == "shown")
        keyboard.invalidate()
        screen.invalidate()
        close(slave)
        close(master)
    }
}

/// Returns when the tasks that were started on the loop's executor before have come to their waits.
func tasksWait(of loop: RunLoop) async { await Task(executorPreference: loop.taskExecutor) {}.value }

/// Two connected sockets that do not block, the second with a small buffer.
func makeSocketPair() throws -> (CInt, CInt) {
    let (first, second) = try makeSockets(SOCK_STREAM)
    for end in [first, second] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    var size: CInt = 4096
    setsockopt(second, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
    return (first, second)
}

/// A byte that counts how often it is asked for, which is once for each attempt to write it.
private struct CountedByte: RandomAccessCollection {
    let asked: Count
    let byte: UInt8 = 120
    var startIndex: Int { 0 }
    var endIndex: Int { 1 }
    subscript(position: Int) -> UInt8 { byte }

    func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        asked.increment()
        return try withUnsafePointer(to: byte) { try body(UnsafeBufferPointer(start: $0, count: 1)) }
    }
}

extension WriterTests {
    @Test("Tasks that wait try a few times each, however many there are")
    func attempts() async throws {
        let thread = try RunLoop.Thread()
        let (reader, output) = try makeSocketPair()
        let writer = try RunLoop.Writer(adopting: output, on: thread.loop, limit: 1)
        let (asked, total) = (Count(), 500)
        // The kernel's buffer is full, and so is the writer's.
        while try writer.enqueue("f") || writer.waitingCount == 0 {}
        let writing = (0..<total).map { _ in Task { try await writer.write(CountedByte(asked: asked)) } }
        #expect(try await eventually { asked.value >= total })
        let finishing = Task { try await writer.finish() }
        var received = 0
        for try await chunk in thread.loop.chunks(of: reader) { received += chunk.count { $0 == 120 } }
        for task in writing { #expect(try await task.value == 1) }
        #expect(try await finishing.value)
        #expect(received == total)
        #expect(asked.value <= 4 * total, "\(asked.value)")
        close(reader)
    }

    @Test("A task that is cancelled, before it waits or while it does, has written what there was space for")
    func cancelled() async throws {
        let thread = try RunLoop.Thread()
        let (reader, output) = try makeSocketPair()
        let writer = try RunLoop.Writer(adopting: output, on: thread.loop, limit: 100)
        let writing = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await writer.write([UInt8](repeating: 7, count: 1_000_000))
        }
        #expect((100..<1_000_000).contains(try await writing.value))
        let waits = [
            Task(executorPreference: thread.loop.taskExecutor) { try await writer.flush() },
            Task(executorPreference: thread.loop.taskExecutor) { try await writer.finish() },
        ]
        await tasksWait(of: thread.loop)
        for wait in waits {
            wait.cancel()
            #expect(try await !wait.value)
        }
        #expect(writer.isValid && writer.waitingCount == 100)
        close(reader)
    }
}
