import Glibc
import RunLoopKit
import RunLoopKitLinux

// Awaits of everything that a loop resumes. A task that left its loop's thread for the thread pool and came back would leave a thread there, which
// the kernel counts. So there is nothing to measure: the number of threads is what it was.

/// How many threads the process has.
private func threadCount() -> Int {
    guard let tasks = opendir("/proc/self/task") else { preconditionFailure("There is no /proc.") }
    defer { closedir(tasks) }
    var count = 0
    while let entry = readdir(tasks) {
        if entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { count += 1 }
    }
    return count
}

/// Runs an await, and fails if a thread has come of it.
private nonisolated(nonsending) func check(_ name: String, _ body: nonisolated(nonsending) () async throws -> Void)
    async throws
{
    let before = threadCount()
    try await body()
    let after = threadCount()
    if after != before {
        print("\(name): \(before) threads before, \(after) after")
        exit(1)
    }
}

private func makePipe() -> (input: CInt, output: CInt) {
    var ends: [CInt] = [0, 0]
    precondition(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    return (ends[0], ends[1])
}

private func makeSockets(_ kind: __socket_type) -> (CInt, CInt) {
    var ends: [CInt] = [0, 0]
    precondition(socketpair(AF_UNIX, CInt(kind.rawValue) | CInt(O_NONBLOCK), 0, &ends) == 0)
    return (ends[0], ends[1])
}

/// `precondition` takes no expression that waits.
private func expect(_ isSo: Bool, line: UInt = #line) { precondition(isSo, line: line) }

/// A call of the loop, after what the task does now.
private func later(on loop: RunLoop, _ body: @escaping @Sendable () -> Void) {
    let timer = RunLoop.Timer(after: .milliseconds(1)) { _ in body() }
    try! loop.add(timer, forMode: .common)
}

@Sendable
private func put(_ text: String, into descriptor: CInt) { _ = text.withCString { write(descriptor, $0, strlen($0)) } }

private func awaitStreams(on loop: RunLoop, isolation actor: isolated (any Actor)? = #isolation) async throws {
    let (input, output) = makePipe()
    let reader = RunLoop.Reader(borrowing: input, on: loop)
    try await check("line") {
        for _ in 0..<20 {
            later(on: loop) { put("line\n", into: output) }
            expect(try await reader.line() == "line")
        }
    }
    try await check("chunk") {
        later(on: loop) { put("chunk", into: output) }
        expect(try await reader.chunk() == Array("chunk".utf8))
    }
    try await check("bytes") {
        later(on: loop) { put("b", into: output) }
        for try await byte in loop.bytes(of: input) {
            precondition(byte == UInt8(ascii: "b"))
            break
        }
    }
    try await check("readiness") {
        later(on: loop) { put("r", into: output) }
        for try await _ in loop.readiness(of: input) { break }
    }
    // A task that is started outside of actors is in the pool, whatever executor its parent prefers; and who awaits a task goes on there.
    if actor != nil {
        try await check("cancelled line") {
            nonisolated(unsafe) var isOver = false
            let task = Task {
                _ = actor
                expect(try await RunLoop.Reader(borrowing: input, on: loop).line() == nil)
                isOver = true
            }
            try await loop.clock.sleep(for: .milliseconds(1))
            later(on: loop) { task.cancel() }
            while !isOver { try await loop.clock.sleep(for: .milliseconds(1)) }
        }
    }
    let ends = makeSockets(SOCK_STREAM)
    let writer = try RunLoop.Writer(adopting: ends.0, on: loop)
    try await check("write") {
        let drain = try RunLoop.Source(fileDescriptor: ends.1) { _ in
            withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) {
                _ = read(ends.1, $0.baseAddress, $0.count)
            }
        }
        try loop.add(drain, forMode: .common)
        for _ in 0..<20 { try await writer.write([UInt8](repeating: 1, count: 400_000)) }
        try await writer.finish()
        drain.invalidate()
    }
    for end in [input, output, ends.1] { close(end) }
}

private func awaitConnections(on loop: RunLoop, isolation actor: isolated (any Actor)? = #isolation) async throws {
    let listener = try RunLoop.Listener(.abstract("awaits-\(getpid())"), on: loop)
    try await check("connect and accept") {
        let connection = try await RunLoop.Connection.connect(to: .abstract("awaits-\(getpid())"), on: loop)
        for try await accepted in listener.connections {
            later(on: loop) { _ = try? accepted.writer.enqueue("hello\n") }
            expect(try await connection.makeReader().line() == "hello")
            break
        }
        try await connection.close()
    }
    try await check("accept that waits") {
        nonisolated(unsafe) var client: CInt = -1
        later(on: loop) {
            client = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let name = "\0awaits-\(getpid())"
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name.utf8) }
            let length = socklen_t(MemoryLayout<sa_family_t>.size + name.utf8.count)
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(client, $0, length) }
            }
        }
        for try await _ in listener.connections { break }
        close(client)
    }
    try await check("channel") {
        let ends = makeSockets(SOCK_SEQPACKET)
        let receiver = try RunLoop.Channel(adopting: ends.0, on: loop)
        let sender = try RunLoop.Channel(adopting: ends.1, on: loop) { _, _ in }
        later(on: loop) { try? sender.send(Array("message".utf8)) }
        for try await message in receiver.messages {
            precondition(message.bytes == Array("message".utf8))
            break
        }
        later(on: loop) { receiver.invalidate() }
        _ = try? await sender.request(Array("question".utf8))
    }
}

private func awaitItems(on loop: RunLoop, isolation actor: isolated (any Actor)? = #isolation) async throws {
    try await check("sleep") { try await loop.clock.sleep(for: .milliseconds(1)) }
    try await check("ticks") {
        var count = 0
        for await _ in loop.ticks(every: .milliseconds(1)) {
            count += 1
            if count == 3 { break }
        }
    }
    try await check("activities") {
        later(on: loop) {}
        for await _ in loop.activities(.afterWaiting) { break }
    }
    try await check("port") {
        let port = try RunLoop.Port<Int, Int>(on: loop) { message in
            let number = message.request
            message.reply(number + 1)
        }
        expect(try await port.request(1) == 2)
    }
}

/// With threads of their own, which are counted.
private func awaitOthers(on loop: RunLoop, isolation actor: isolated (any Actor)? = #isolation) async throws {
    try await check("the end of a child") {
        let child = try RunLoop.Child.start(["/bin/true"], on: loop)
        expect(try await child.exit().reason == .exited(0))
    }
    let thread = try RunLoop.Thread()
    try await check("performAndWait") {
        for number in 0..<20 {
            expect(await thread.performAndWait { number + 1 } == number + 1)
            expect(try await thread.loop.performAndWait { number + 2 } == number + 2)
        }
    }
    thread.stop()
    await thread.join()
    // Its thread may be counted for a moment after it has ended the wait.
    try await RunLoop.runBlocking {}
    while threadCount() > expectedThreads { usleep(1000) }
}

/// Of the case that runs.
private nonisolated(unsafe) var expectedThreads = 1

@MainActor private func awaitOnMainActor() async throws {
    expectedThreads = threadCount()
    try await awaitStreams(on: .main)
    try await awaitConnections(on: .main)
    try await awaitItems(on: .main)
    try await awaitOthers(on: .main)
}

private actor Device: RunLoop.BoundActor {
    nonisolated let loop: RunLoop
    init(on loop: RunLoop) { self.loop = loop }

    func awaitAll() async throws {
        try await awaitStreams(on: loop)
        try await awaitConnections(on: loop)
        try await awaitItems(on: loop)
    }
}

private func awaitOnTaskExecutor() async throws {
    try await awaitStreams(on: .main)
    try await awaitConnections(on: .main)
    try await awaitItems(on: .main)
}

/// Echoes lines to a peer that is a source of the same loop, and sends the next line when it has one. For tests that count system calls.
@MainActor private func echo(lines: Int) async throws {
    let ends = makeSockets(SOCK_STREAM)
    nonisolated(unsafe) var sent = 1
    let peer = try RunLoop.Source(fileDescriptor: ends.1) { _ in
        withUnsafeTemporaryAllocation(byteCount: 100, alignment: 1) { _ = read(ends.1, $0.baseAddress, $0.count) }
        if sent == lines {
            shutdown(ends.1, CInt(SHUT_WR))
        } else {
            put("line\n", into: ends.1)
        }
        sent += 1
    }
    try RunLoop.main.add(peer, forMode: .common)
    put("line\n", into: ends.1)
    let reader = RunLoop.Reader(borrowing: ends.0, on: .main)
    let writer = try RunLoop.Writer(borrowing: ends.0, on: .main)
    var count = 0
    for try await line in reader.lines() {
        try await writer.write(line + "\n")
        count += 1
    }
    expect(count == lines)
    peer.invalidate()
}

/// Runs the case that the program was called with.
public func runAwaits() {
    let name = CommandLine.arguments.last ?? ""
    let end: @Sendable (Result<Void, any Error>) -> Void = { result in
        print(name, (try? result.get()) == nil ? "\(result)" : "done", separator: ": ")
        exit(0)
    }
    switch name {
    case "main-actor":
        Task { @MainActor in
            do { end(.success(try await awaitOnMainActor())) } catch { end(.failure(error)) }
        }
    case "bound-actor":
        // The task begins on the actor, without the thread pool.
        let device = Device(on: .main)
        device.assumeIsolated { device in
            _ = Task {
                do { end(.success(try await device.awaitAll())) } catch { end(.failure(error)) }
            }
        }
    case "task-executor":
        Task(executorPreference: RunLoop.main.taskExecutor) {
            do { end(.success(try await awaitOnTaskExecutor())) } catch { end(.failure(error)) }
        }
    case "lines":
        Task { @MainActor in
            do { end(.success(try await echo(lines: 1000))) } catch { end(.failure(error)) }
        }
    default: preconditionFailure("There is no such case.")
    }
    RunLoop.main.run()
}
