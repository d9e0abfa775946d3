import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

@Suite struct InputTests {
    @Test("Every byte arrives, in order, however small the buffer is, and the end of the input ends the iteration")
    func bytes() async throws {
        let thread = try RunLoop.Thread()
        let sent = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        for size in [1, 7, 65_536] {
            let reader = try source(of: sent)
            var received: [UInt8] = []
            for try await byte in thread.loop.bytes(of: reader, bufferSize: size) { received.append(byte) }
            #expect(received == sent)
            #expect(isOpen(reader))
            close(reader)
        }
    }

    @Test("A byte is taken where its caller is: no executor is switched to")
    func bytesWhereTheCallerIs() async throws {
        let thread = try RunLoop.Thread()
        let reader = try source(of: [1, 2, 3])
        let elsewhere = Elsewhere()
        var bytes = thread.loop.bytes(of: reader, bufferSize: 2).makeAsyncIterator()
        for byte: UInt8 in 1...3 { #expect(try await bytes.next(isolation: elsewhere) == byte) }
        #expect(try await bytes.next(isolation: elsewhere) == nil)
        #expect(elsewhere.executor.jobs.value == 0)
        close(reader)
    }

    @Test("Chunks are the input as it arrives, not larger than the buffer, and never empty")
    func chunks() async throws {
        let thread = try RunLoop.Thread()
        let sent = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        let reader = try source(of: sent)
        var received: [UInt8] = []
        for try await chunk in thread.loop.chunks(of: reader, bufferSize: 300) {
            #expect((1...300).contains(chunk.count))
            received += chunk
        }
        #expect(received == sent)
        close(reader)
    }

    @Test("An input that is larger than pipe and buffer arrives completely")
    func largeInput() async throws {
        let thread = try RunLoop.Thread()
        let count = 3_000_000
        let (reader, writer) = try makeBlockingPipe()
        let sender = TestThread {
            var rest = count
            while rest > 0 {
                let part = min(rest, 100_003)
                send([UInt8](repeating: UInt8(rest % 251), count: part), to: writer)
                rest -= part
            }
            close(writer)
        }
        var received = 0
        for try await chunk in thread.loop.chunks(of: reader) { received += chunk.count }
        #expect(received == count)
        sender.join()
        close(reader)
    }

    @Test("Nothing is read that was not requested")
    func readsOnlyRequested() async throws {
        let thread = try RunLoop.Thread()
        let (reader, writer) = try makePipe()
        var chunks = thread.loop.chunks(of: reader).makeAsyncIterator()
        writeByte(writer)
        #expect(try await chunks.next(isolation: nil) == [1])
        send([2, 3, 4], to: writer)
        try await settle(thread)
        #expect(take(from: reader) == [2, 3, 4])
        writeByte(writer)
        #expect(try await chunks.next(isolation: nil) == [1])
        close(reader)
        close(writer)
    }

    @Test("While no consumer waits the loop sleeps, even if there is input")
    func sleepsWithoutConsumer() async throws {
        let thread = try RunLoop.Thread()
        let (reader, writer) = try makePipe()
        var chunks = thread.loop.chunks(of: reader, bufferSize: 1).makeAsyncIterator()
        send([1, 2, 3], to: writer)
        #expect(try await chunks.next(isolation: nil) == [1])
        // The first report without a waiting consumer removes the source.
        try await settle(thread)
        let woken = Count()
        try thread.loop.add(RunLoop.Observer(.afterWaiting) { _, _ in woken.increment() }, forMode: .default)
        usleep(20_000)
        #expect(woken.value <= 1)
        #expect(try await chunks.next(isolation: nil) == [2])
        #expect(try await chunks.next(isolation: nil) == [3])
        close(reader)
        close(writer)
    }

    @Test("Two readers of a descriptor that may block share it, and do not block the loop")
    func twoReaders() async throws {
        let thread = try RunLoop.Thread()
        let (reader, writer) = try makeBlockingPipe()
        let received = Count()
        let tasks = (0..<2).map { _ in
            Task {
                for try await chunk in thread.loop.chunks(of: reader) {
                    for _ in chunk { received.increment() }
                }
            }
        }
        for number in 1...20 {
            writeByte(writer)
            #expect(try await eventually { received.value == number })
            try await settle(thread)
        }
        close(writer)
        for task in tasks { try await task.value }
        #expect(received.value == 20)
        close(reader)
    }

    @Test("An actor on the loop has its input on the loop's thread")
    func actorOnLoop() async throws {
        let thread = try RunLoop.Thread()
        let reader = try source(of: Array("one\ntwo\nthree".utf8))
        let listener = Listener(thread.loop)
        #expect(try await listener.lines(of: reader) == ["one", "two", "three"])
        #expect(await listener.alwaysOnThread)
        close(reader)
    }

    @Test("Input arrives only when the loop runs in the mode, which is not empty until the iteration ends")
    func modes() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let mode = RunLoop.Mode("input")
            let (reader, writer) = try makePipe()
            send([1, 2], to: writer)
            let received = Count()
            let task = Task {
                for try await byte in loop.bytes(of: reader, inMode: mode) {
                    #expect(byte <= 2)
                    received.increment()
                    loop.wakeUp()
                }
            }
            #expect(waitUntil { loop.allModes.contains(mode) })
            _ = loop.run(mode: .default, for: .milliseconds(5))
            #expect(received.value == 0)
            #expect(loop.run(mode: mode, until: { received.value == 2 }, deadline: .now + generous))
            #expect(loop.run(mode: mode, for: .milliseconds(1)) == .timedOut)
            close(writer)
            #expect(loop.run(mode: mode, for: generous) == .finished)
            finish(task)
            close(reader)
        }
    }

    @Test("A released iterator leaves nothing in the loop, and closes nothing")
    func releasedIterator() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let mode = RunLoop.Mode("input")
            let (reader, writer) = try makePipe()
            writeByte(writer)
            let taken = Handed<[UInt8]?>()
            let task = Task {
                for try await chunk in loop.chunks(of: reader, inMode: mode) {
                    taken.put(chunk)
                    break
                }
            }
            #expect(waitUntil { loop.allModes.contains(mode) })
            #expect(loop.run(mode: mode, for: generous) == .finished)
            #expect(taken.take() == [1])
            finish(task)
            #expect(isOpen(reader))
            close(reader)
            close(writer)
        }
    }
}

/// Input for which the kernel reports nothing, because a read of it never waits.
@Suite struct FileInputTests {
    @Test("A regular file arrives whole, in order, from where its descriptor stands, however small the buffer is")
    func file() async throws {
        let thread = try RunLoop.Thread()
        let sent = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let file = try regularFile(with: sent)
        for size in [1, 7, 65_536] {
            lseek(file, 5, SEEK_SET)
            var bytes: [UInt8] = []
            for try await byte in thread.loop.bytes(of: file, bufferSize: size) { bytes.append(byte) }
            #expect(bytes == Array(sent[5...]))
            lseek(file, 0, SEEK_SET)
            var chunks: [UInt8] = []
            for try await chunk in thread.loop.chunks(of: file, bufferSize: size) { chunks += chunk }
            #expect(chunks == sent)
        }
        #expect(isOpen(file))
        close(file)
    }

    @Test("The lines of a regular file are those of its text, the last one without its end included")
    func lines() async throws {
        let thread = try RunLoop.Thread()
        let file = try regularFile(with: Array("one\ntwo\r\n\nthree".utf8))
        var lines: [String] = []
        for try await line in thread.loop.lines(of: file, bufferSize: 2) { lines.append(line) }
        #expect(lines == ["one", "two", "", "three"])
        lseek(file, 0, SEEK_SET)
        var bounded: [RunLoop.Line] = []
        for try await line in thread.loop.lines(of: file, skippingLongerThan: 3) { bounded.append(line) }
        #expect(bounded == [.text("one"), .text("two"), .text(""), .tooLong])
        close(file)
    }

    @Test("An empty file and /dev/null are at their end, and stay there")
    func nothing() async throws {
        let thread = try RunLoop.Thread()
        for descriptor in [try regularFile(with: []), open("/dev/null", O_RDONLY)] {
            var bytes = thread.loop.bytes(of: descriptor).makeAsyncIterator()
            var chunks = thread.loop.chunks(of: descriptor).makeAsyncIterator()
            var lines = thread.loop.lines(of: descriptor).makeAsyncIterator()
            for _ in 0..<2 {
                #expect(try await bytes.next(isolation: nil) == nil)
                #expect(try await chunks.next(isolation: nil) == nil)
                #expect(try await lines.next(isolation: nil) == nil)
            }
            #expect(isOpen(descriptor))
            close(descriptor)
        }
    }

    @Test("An iteration of the loop reads a file once at most, and at the end of the file the mode is empty")
    func othersHaveTheirTurn() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let mode = RunLoop.Mode("input")
            let file = try regularFile(with: [UInt8](repeating: 1, count: 100))
            let received = Count()
            let task = Task {
                for try await chunk in loop.chunks(of: file, bufferSize: 1, inMode: mode) {
                    for _ in chunk { received.increment() }
                }
            }
            #expect(waitUntil { loop.allModes.contains(mode) })
            #expect(loop.run(mode: .default, for: .zero) == .finished)
            #expect(received.value == 0)
            let iterations = Count()
            try loop.add(RunLoop.Observer(.beforeSources) { _, _ in iterations.increment() }, forMode: mode)
            #expect(loop.run(mode: mode, for: generous) == .finished)
            finish(task)
            #expect(received.value == 100)
            #expect(iterations.value > 100)
            close(file)
        }
    }

    @Test("While nobody asks, nothing of a file is read, and the loop has nothing to do")
    func readsOnlyWhatIsAskedFor() async throws {
        let thread = try RunLoop.Thread()
        let file = try regularFile(with: [1, 2, 3])
        var chunks = thread.loop.chunks(of: file, bufferSize: 1).makeAsyncIterator()
        for byte: UInt8 in 1...3 {
            #expect(try await chunks.next(isolation: nil) == [byte])
            try await settle(thread)
            #expect(lseek(file, 0, SEEK_CUR) == Int(byte))
            let hasWork = try await thread.loop.performAndWait { RunLoop.current.hasWork(inMode: .default) }
            #expect(!hasWork)
        }
        #expect(try await chunks.next(isolation: nil) == nil)
        close(file)
    }

    @Test("A cancelled task's iteration over a file ends, and has left the loop when the task knows")
    func cancelled() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let mode = RunLoop.Mode("input")
            let file = try regularFile(with: [1])
            let task = Task {
                for try await _ in loop.bytes(of: file, inMode: mode) { Issue.record("The loop has not run.") }
            }
            #expect(waitUntil { loop.allModes.contains(mode) })
            task.cancel()
            finish(task)
            #expect(loop.run(mode: mode, for: .zero) == .finished)
            #expect(lseek(file, 0, SEEK_CUR) == 0)
            close(file)
        }
    }
}

/// The ends of an iteration other than the end of the input.
@Suite struct InputEndTests {
    @Test("A descriptor that cannot be waited for, or not be read, throws an error and ends the iteration")
    func wrongDescriptors() async throws {
        let thread = try RunLoop.Thread()
        let (reader, writer) = try makePipe()
        let directory = open("/", O_RDONLY)
        let expected: [(CInt, RunLoop.Error)] = [
            (.max, .badDescriptor), (-1, .badDescriptor), (-2, .badDescriptor), (writer, .badDescriptor),
            (directory, RunLoop.Error(errorNumber: EISDIR)),
        ]
        for (descriptor, error) in expected {
            var bytes = thread.loop.bytes(of: descriptor).makeAsyncIterator()
            await #expect(throws: error) { _ = try await bytes.next(isolation: nil) }
            #expect(try await bytes.next(isolation: nil) == nil)
            var chunks = thread.loop.chunks(of: descriptor).makeAsyncIterator()
            await #expect(throws: error) { _ = try await chunks.next(isolation: nil) }
            #expect(try await chunks.next(isolation: nil) == nil)
            var lines = thread.loop.lines(of: descriptor).makeAsyncIterator()
            await #expect(throws: error) { _ = try await lines.next(isolation: nil) }
            #expect(try await lines.next(isolation: nil) == nil)
        }
        for descriptor in [reader, writer, directory] {
            #expect(isOpen(descriptor))
            close(descriptor)
        }
    }

    @Test("A read that fails throws its error number")
    func failingRead() async throws {
        let thread = try RunLoop.Thread()
        let (own, peer) = try makeSockets(SOCK_STREAM)
        // A peer that leaves with input unread resets the connection.
        send([1, 2, 3], to: own)
        close(peer)
        var bytes = thread.loop.bytes(of: own).makeAsyncIterator()
        await #expect(throws: RunLoop.Error(errorNumber: ECONNRESET)) { _ = try await bytes.next(isolation: nil) }
        #expect(try await bytes.next(isolation: nil) == nil)
        close(own)
    }

    @Test("The end of a loop's thread is an error and not the end of the input")
    func endOfThread() async throws {
        let (reader, writer) = try makePipe()
        writeByte(writer)
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        var between = loop.chunks(of: reader).makeAsyncIterator()
        #expect(try await between.next(isolation: nil) == [1])
        let mode = RunLoop.Mode("marks a wait")
        let waiting = Task {
            for try await _ in loop.lines(of: reader, inMode: mode) { Issue.record("There is no line.") }
        }
        #expect(try await eventually { loop.allModes.contains(mode) })
        thread.stop()
        await #expect(throws: RunLoop.Error.loopFinished) { try await waiting.value }
        await #expect(throws: RunLoop.Error.loopFinished) { _ = try await between.next(isolation: nil) }
        #expect(try await between.next(isolation: nil) == nil)
        try await withRunLoopThread { thread.join() }
        var late = loop.bytes(of: reader).makeAsyncIterator()
        await #expect(throws: RunLoop.Error.loopFinished) { _ = try await late.next(isolation: nil) }
        #expect(try await late.next(isolation: nil) == nil)
        close(reader)
        close(writer)
    }

    @Test("A cancelled task's iteration ends at once, and is removed from the loop before the task continues")
    func cancelledWhileWaiting() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let mode = RunLoop.Mode("input")
            let (reader, writer) = try makePipe()
            let task = Task {
                for try await _ in loop.bytes(of: reader, inMode: mode) { Issue.record("There is no input.") }
                return Task.isCancelled && loop.isEmpty(inMode: mode)
            }
            #expect(waitUntil { loop.allModes.contains(mode) })
            #expect(loop.run(mode: mode, for: .milliseconds(1)) == .timedOut)
            task.cancel()
            #expect(finish(task) == true)
            #expect(loop.run(mode: mode, for: .zero) == .finished)
            close(reader)
            close(writer)
        }
    }

    @Test("A task that was cancelled before gets no input, and nothing is read for it")
    func cancelledBefore() async throws {
        let thread = try RunLoop.Thread()
        let (reader, writer) = try makePipe()
        send(Array("line\n".utf8), to: writer)
        let received = Count()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            for try await _ in thread.loop.bytes(of: reader) { received.increment() }
            for try await _ in thread.loop.lines(of: reader) { received.increment() }
        }
        task.cancel()
        try await task.value
        #expect(received.value == 0)
        #expect(take(from: reader) == Array("line\n".utf8))
        close(reader)
        close(writer)
    }

    @Test("After a cancellation bytes in the buffer are returned, and an incomplete line is not")
    func cancelledAfter() async throws {
        let thread = try RunLoop.Thread()
        let (reader, writer) = try makePipe()
        send(Array("one\ntwo\nhalf".utf8), to: writer)
        let task = Task {
            var iterator = thread.loop.lines(of: reader).makeAsyncIterator()
            var lines: [String?] = []
            for _ in 0..<4 {
                lines.append(try await iterator.next(isolation: nil))
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return lines
        }
        #expect(try await task.value == ["one", "two", nil, nil])
        close(reader)
        close(writer)
    }

    @Test("After an iteration no thread reads from the descriptor, which may be closed and its number used again")
    func closedAfterwards() async throws {
        let thread = try RunLoop.Thread()
        for attempt in 0..<200 {
            let (reader, writer) = try makePipe()
            let task = Task {
                for try await _ in thread.loop.bytes(of: reader) {}
            }
            if attempt % 2 == 0 { await Task.yield() }
            let noise = TestThread { send([UInt8](repeating: 1, count: 10), to: writer) }
            task.cancel()
            try await task.value
            try await withRunLoopThread { noise.join() }
            close(reader)
            let (other, otherWriter) = try makePipe()
            send([7, 7], to: otherWriter)
            await Task.yield()
            #expect(take(from: other) == [7, 7])
            for descriptor in [writer, other, otherWriter] { close(descriptor) }
        }
    }
}

/// An actor on a loop.
private actor Listener {
    private let loop: RunLoop
    private(set) var alwaysOnThread = true

    init(_ loop: RunLoop) {
        self.loop = loop
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    func lines(of descriptor: CInt) async throws -> [String] {
        var lines: [String] = []
        for try await line in loop.lines(of: descriptor) {
            if !loop.isCurrent { alwaysOnThread = false }
            lines.append(line)
        }
        return lines
    }
}

/// An actor that counts the jobs it is given.
private actor Elsewhere {
    final class Executor: SerialExecutor {
        let jobs = Count()

        func enqueue(_ job: consuming ExecutorJob) {
            jobs.increment()
            let job = UnownedJob(job)
            TestThread { job.runSynchronously(on: self.asUnownedSerialExecutor()) }.detach()
        }
    }

    let executor = Executor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

/// Waits for a task on this thread, which does not belong to the pool.
@discardableResult
private func finish<Value: Sendable>(_ task: Task<Value, any Error>) -> Value? {
    let result = Handed<Result<Value, any Error>>()
    Task { result.put(await task.result) }
    switch result.take() {
    case .success(let value): return value
    case .failure(let error): Issue.record(error)
    case nil: Issue.record("The task did not end.")
    }
    return nil
}

/// Waits until the loop has run several iterations, and sleeps.
private func settle(_ thread: RunLoop.Thread) async throws {
    try await withRunLoopThread {
        for _ in 0..<4 { thread.performAndWait {} }
        #expect(waitUntil { thread.loop.isWaiting })
    }
}

/// The reading end of a pipe with that input, and its end.
private func source(of bytes: [UInt8]) throws -> CInt {
    let (reader, writer) = try makePipe()
    send(bytes, to: writer)
    close(writer)
    return reader
}

/// A regular file without a name, with those bytes, read from its beginning.
private func regularFile(with bytes: [UInt8]) throws -> CInt {
    let file = try #require(tmpfile())
    defer { fclose(file) }
    let descriptor = dup(fileno(file))
    send(bytes, to: descriptor)
    lseek(descriptor, 0, SEEK_SET)
    return descriptor
}

private func makeBlockingPipe() throws -> (reader: CInt, writer: CInt) {
    let (reader, writer) = try makePipe()
    for end in [reader, writer] { _ = fcntl(end, F_SETFL, 0) }
    return (reader, writer)
}

private func send(_ bytes: [UInt8], to descriptor: CInt) {
    var sent = 0
    while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count <= 0 { return }
        sent += count
    }
}

/// The bytes that can be read now.
private func take(from descriptor: CInt) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 1000)
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
}

private func isOpen(_ descriptor: CInt) -> Bool { fcntl(descriptor, F_GETFD) >= 0 }
