import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitTesting
import Testing

@Suite struct ExchangeTests {
    @Test("A request that is not complete at the deadline ends the connection, whatever lines come, and not before")
    func slowRequest() async throws {
        let (lines, outcome) = (Count(), Guarded<RunLoop.Error?>(nil))
        try await withVirtualTime { loop, time in
            let options = RunLoop.Connection.Options(
                idleLimit: .seconds(60), messageLimit: .seconds(60), mode: .default)
            let (one, other) = try makeSocketPair()
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: options)
            countLines(of: connection, on: loop, lines, outcome)
            func putLine() {
                for byte in "a\n".utf8 { writeByte(other, byte) }
                time.advance(by: .zero)
                time.advance(by: .zero)
            }
            let deadline = RunLoop.Instant.now + .seconds(100)
            connection.deadline = deadline
            #expect(connection.deadline == deadline)
            // A request that is complete, after which nothing but silence counts.
            connection.deadline = nil
            for _ in 1...3 {
                time.advance(by: .seconds(50))
                putLine()
            }
            #expect(connection.writer.isValid)
            connection.deadline = .now + .seconds(100)
            for _ in 1...3 {
                time.advance(by: .seconds(33))
                putLine()
            }
            #expect(lines.value == 6)
            #expect(connection.writer.isValid)
            time.advance(by: .seconds(1))
            #expect(!connection.writer.isValid)
            time.advance(by: .zero)
            connection.deadline = .now + .seconds(1)
            close(other)
        }
        #expect(outcome.withLock { $0 } == .timedOut)
        #expect(lines.value == 6)
    }

    @Test("What has arrived at the deadline is read first, and a response that is taken slowly has a deadline as well")
    func lateLoop() async throws {
        try await withVirtualTime { loop, time in
            let options = RunLoop.Connection.Options(outputLimit: 10_000_000, mode: .default)
            let (one, other) = try makeSocketPair()
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: options)
            let bytes = countBytes(of: connection, on: loop)
            time.advance(by: .zero)
            // Both are there when the loop comes to look.
            writeByte(other)
            connection.deadline = .now
            time.advance(by: .zero)
            time.advance(by: .zero)
            #expect(bytes.value == 1)
            #expect(connection.writer.isValid)
            time.advance(by: .milliseconds(20))
            #expect(!connection.writer.isValid)
            close(other)

            let (two, peer) = try makeSocketPair()
            let slow = try RunLoop.Connection(adopting: two, on: loop, options: options)
            slow.deadline = .now + .seconds(60)
            #expect(try slow.writer.enqueue([UInt8](repeating: 1, count: 5_000_000)))
            time.advance(by: .seconds(59))
            for _ in 0..<1_000 { #expect(readByte(peer)) }
            time.advance(by: .zero)
            #expect(slow.writer.isValid)
            time.advance(by: .seconds(2))
            #expect(!slow.writer.isValid)
            #expect(throws: RunLoop.Error.timedOut) { try slow.writer.enqueue("x") }
            close(peer)
        }
    }

    @Test(
        "A peer that has sent more whenever the loop looks is ended at the deadline, or when its line takes too long",
        arguments: [true, false])
    func flood(hasDeadline: Bool) async throws {
        let outcome = Guarded<RunLoop.Error?>(nil)
        try await withVirtualTime { loop, time in
            let options = RunLoop.Connection.Options(messageLimit: hasDeadline ? nil : .seconds(1), mode: .default)
            let (one, other) = try makeSocketPair()
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: options)
            countLines(of: connection, on: loop, Count(), outcome)
            if hasDeadline { connection.deadline = .now + .seconds(1) }
            // Before whatever else is due.
            let timer = RunLoop.Timer(at: .now, every: .milliseconds(5)) { _ in
                _ = send(other, "a", 1, CInt(MSG_NOSIGNAL))
            }
            try loop.add(timer, forMode: .default)
            time.advance(by: .milliseconds(999))
            #expect(connection.writer.isValid)
            time.advance(by: .seconds(1))
            #expect(!connection.writer.isValid)
            timer.invalidate()
            time.advance(by: .zero)
            close(other)
        }
        #expect(outcome.withLock { $0 } == .timedOut)
    }

    @Test(
        "What is aborted and was asked to reset leaves nothing in the kernel, for a peer that reads nothing",
        arguments: [true, false])
    func resets(isAsked: Bool) async throws {
        let thread = try RunLoop.Thread()
        let (listener, client, accepted) = try await connected(thread.loop, resets: isAsked)
        let port = try #require(listener.port)
        try enqueueTooMuch(try #require(accepted.take()).writer)
        // The connection is freed as soon as the loop's thread has left the closure that put it here, and closed. What was sent waits for the
        // peer, in FIN_WAIT1, or in FIN_WAIT2 if the peer's buffer has all of it, unless it was dropped.
        #expect(try await eventually { !TCPTable.states(port: port).contains("01") })
        let states = TCPTable.states(port: port)
        #expect((states.contains("04") || states.contains("05")) == !isAsked, "the states are \(states)")
        let reader = client.makeReader()
        var error: RunLoop.Error?
        do { while try await reader.chunk() != nil {} } catch let failure { error = failure as? RunLoop.Error }
        #expect(error == (isAsked ? .connectionReset : nil))
    }

    @Test("What was finished is not reset, and its peer reads all of it, also if it has sent what nobody has read")
    func finished() async throws {
        let thread = try RunLoop.Thread()
        let (_, client, accepted) = try await connected(thread.loop, resets: true)
        // The kernel of the other side keeps most of it.
        var size: CInt = 4096
        setsockopt(client.fileDescriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        try await client.writer.write("What nobody reads.")
        let closing = Task { [connection = try #require(accepted.take())] in
            let socket = connection.fileDescriptor
            #expect(
                try await eventually {
                    var query = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                    return poll(&query, 1, 0) > 0
                })
            try await connection.writer.write([UInt8](repeating: 1, count: 500_000))
            try await connection.close()
        }
        let reader = client.makeReader()
        var count = 0
        while let chunk = try await reader.chunk() { count += chunk.count }
        #expect(count == 500_000)
        try await closing.value
    }

    @Test("Two tasks may close a connection at the same time") @MainActor
    func closedTwice() async throws {
        let thread = try RunLoop.Thread()
        let (_, client, accepted) = try await connected(thread.loop, resets: false)
        let connection = try #require(accepted.take())
        #expect(try connection.writer.enqueue([UInt8](repeating: 1, count: 20_000_000)))
        let closing = (0..<2).map { _ in Task { try await connection.close() } }
        // Both wait when this one does.
        let reader = client.makeReader()
        var count = 0
        while let chunk = try await reader.chunk() { count += chunk.count }
        #expect(count == 20_000_000)
        for close in closing { try await close.value }
    }
}

/// A connection that a listener has accepted, with its client.
private func connected(
    _ loop: RunLoop, resets: Bool
) async throws -> (RunLoop.Listener, RunLoop.Connection, Slot<RunLoop.Connection>) {
    let options = RunLoop.Connection.Options(outputLimit: 50_000_000, resetsWhenAborted: resets)
    let (listener, accepted) = (
        try RunLoop.Listener(.tcp(port: 0), on: loop, options: options), Slot<RunLoop.Connection>()
    )
    try listener.accept { accepted.put($0) }
    let client = try await RunLoop.Connection.connect(to: .tcp(port: listener.port ?? 0), on: loop)
    #expect(try await eventually { accepted.isFull })
    return (listener, client, accepted)
}

private func enqueueTooMuch(_ writer: RunLoop.Writer) throws {
    // More than the kernel takes: the writer flushes, and the rest waits.
    #expect(try writer.enqueue([UInt8](repeating: 1, count: 40_000_000)))
    _ = try writer.enqueue("x")
    writer.invalidate()
}

/// An object that is handed over once.
private final class Slot<Value: Sendable>: Sendable {
    private let value = Guarded<Value?>(nil)

    var isFull: Bool { value.withLock { $0 != nil } }
    func put(_ value: Value) { self.value.withLock { $0 = value } }
    func take() -> Value? { value.withLock { $0.take() } }
}

/// What the kernel knows of the IPv4 connections of this machine.
enum TCPTable {
    /// The words of each line: the second is this side's address, the third the other's, the fourth the state.
    static var lines: [[Substring]] {
        var table: [UInt8] = []
        withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
            let file = open("/proc/net/tcp", O_RDONLY | O_CLOEXEC)
            while case let count = read(file, buffer.baseAddress, buffer.count), count > 0 { table += buffer[..<count] }
            close(file)
        }
        return String(decoding: table, as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
            .filter { $0.count > 3 }
    }

    /// 127.0.0.1 and a port.
    static func address(port: UInt16) -> String {
        let digits = String(port, radix: 16, uppercase: true)
        return "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// The states of the sockets of a port of this side.
    static func states(port: UInt16) -> [Substring] { lines.filter { $0[1] == address(port: port) }.map { $0[3] } }
}
