import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitTesting
import Testing

/// The idle and the message limit of a connection, beyond ConnectionTests.
@Suite struct LimitTests {
    @Test("A task that has taken input and works on it is cut off by no silence")
    func working() async throws {
        try await withVirtualTime { loop, time in
            let (one, other) = try makeSocketPair()
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: idleLimit)
            let taken = takeByte(of: connection, on: loop)
            time.advance(by: .zero)
            writeByte(other)
            time.advance(by: .zero)
            time.advance(by: .zero)
            #expect(taken.value == 1)
            for _ in 0..<10 { time.advance(by: .seconds(50)) }
            #expect(connection.writer.isValid)
            close(other)
        }
    }

    @Test("Input that was taken counts for a peer that takes no output")
    func inputBesideOutput() async throws {
        try await withVirtualTime { loop, time in
            let (one, other) = try makeSocketPair()
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: idleLimit)
            let taken = takeByte(of: connection, on: loop)
            #expect(try connection.writer.enqueue([UInt8](repeating: 1, count: 5_000_000)))
            time.advance(by: .seconds(50))
            writeByte(other)
            time.advance(by: .zero)
            time.advance(by: .zero)
            #expect(taken.value == 1)
            time.advance(by: .seconds(40))
            #expect(connection.writer.isValid)
            time.advance(by: .seconds(40))
            #expect(!connection.writer.isValid)
            close(other)
        }
    }

    @Test("What a writer has sent counts when only the reader is left")
    func freedWriter() async throws {
        let outcome = Guarded<RunLoop.Error?>(nil)
        try await withVirtualTime { loop, time in
            let (one, other) = try makeSocketPair()
            var connection: RunLoop.Connection? = try .init(adopting: one, on: loop, options: idleLimit)
            if let connection { countLines(of: connection, on: loop, Count(), outcome) }
            time.advance(by: .seconds(50))
            #expect(try connection?.writer.enqueue("x") == true)
            time.advance(by: .zero)
            #expect(readByte(other))
            connection = nil
            time.advance(by: .seconds(50))
            #expect(outcome.withLock { $0 } == nil)
            time.advance(by: .seconds(20))
            time.advance(by: .zero)
            #expect(outcome.withLock { $0 } == .timedOut)
            close(other)
        }
    }

    @Test("A line that begins with the end of the one before has its own limit, also if nothing follows")
    func nextLine() async throws {
        let (lines, outcome) = (Count(), Guarded<RunLoop.Error?>(nil))
        try await withVirtualTime { loop, time in
            let options = RunLoop.Connection.Options(messageLimit: .seconds(80), mode: .default)
            let (one, other) = try makeSocketPair()
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: options)
            countLines(of: connection, on: loop, lines, outcome)
            for (text, pause) in [("a", 79), ("b\na", 79)] {
                for byte in text.utf8 { writeByte(other, byte) }
                time.advance(by: .zero)
                time.advance(by: .zero)
                time.advance(by: .seconds(pause))
            }
            #expect(lines.value == 1)
            #expect(connection.writer.isValid)
            time.advance(by: .seconds(13))
            #expect(!connection.writer.isValid)
            time.advance(by: .zero)
            close(other)
        }
        #expect(outcome.withLock { $0 } == .timedOut)
    }

    @Test("A line that arrives at its limit is read first, and the next one as well")
    func lateLine() async throws {
        try await withVirtualTime { loop, time in
            let options = RunLoop.Connection.Options(messageLimit: .seconds(80), mode: .default)
            let (one, other) = try makeSocketPair()
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: options)
            let (lines, outcome) = (Count(), Guarded<RunLoop.Error?>(nil))
            countLines(of: connection, on: loop, lines, outcome)
            for count in 1...2 {
                writeByte(other, UInt8(ascii: "a"))
                time.advance(by: .zero)
                time.advance(by: .zero)
                // In the pass in which the loop looks at the line.
                try atOnce(after: .seconds(80), on: loop) { writeByte(other, UInt8(ascii: "\n")) }
                time.advance(by: .seconds(80))
                time.advance(by: .zero)
                #expect(lines.value == count)
                #expect(connection.writer.isValid)
            }
            close(other)
        }
    }

    @Test("What arrives at a second deadline is read first as well")
    func secondDeadline() async throws {
        try await withVirtualTime { loop, time in
            let options = RunLoop.Connection.Options(mode: .default)
            let (one, other) = try makeSocketPair()
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: options)
            let bytes = countBytes(of: connection, on: loop)
            time.advance(by: .zero)
            for count in 1...2 {
                connection.deadline = .now + .seconds(1)
                try atOnce(after: .seconds(1), on: loop) { writeByte(other) }
                time.advance(by: .seconds(1))
                #expect(bytes.value == 2 * count - 1)
                #expect(connection.writer.isValid)
                connection.deadline = nil
                writeByte(other)
                time.advance(by: .zero)
                time.advance(by: .zero)
                #expect(bytes.value == 2 * count)
            }
            close(other)
        }
    }

    @Test("Output that the peer takes at the deadline is sent first")
    func lateOutput() async throws {
        try await withVirtualTime { loop, time in
            let options = RunLoop.Connection.Options(outputLimit: 10_000_000, mode: .default)
            let (one, other) = try makeSocketPair()
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: options)
            let received = Count()
            let take: @Sendable () -> Void = { while readByte(other) { received.increment() } }
            #expect(try connection.writer.enqueue([UInt8](repeating: 1, count: 300_000)))
            connection.deadline = .now + .seconds(1)
            time.advance(by: .zero)
            #expect(connection.writer.waitingCount > 0)
            try atOnce(after: .seconds(1), on: loop, take)
            time.advance(by: .seconds(1))
            take()
            #expect(received.value == 300_000)
            close(other)
        }
    }

    @Test("Input that arrives when a connection would be idle is read first, though nobody takes its output")
    func lateInput() async throws {
        try await withVirtualTime { loop, time in
            let (one, other) = try makeSocketPair()
            // Before the look at the connection, which is due then, too.
            for seconds in 60...68 {
                try atOnce(after: .seconds(seconds), on: loop) { send(other, "a", 1, CInt(MSG_NOSIGNAL)) }
            }
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: idleLimit)
            let bytes = countBytes(of: connection, on: loop)
            #expect(try connection.writer.enqueue([UInt8](repeating: 1, count: 5_000_000)))
            time.advance(by: .seconds(100))
            #expect(bytes.value == 9)
            #expect(connection.writer.isValid)
            time.advance(by: .seconds(40))
            #expect(!connection.writer.isValid)
            close(other)
        }
    }

    @Test("A connection that has ended leaves the loop, though its object is still there")
    func leavesLoop() async throws {
        try await withVirtualTime { loop, time in
            let mode = RunLoop.Mode("connection")
            let (one, other) = try makeSocketPair()
            let options = RunLoop.Connection.Options(idleLimit: .seconds(60), mode: mode)
            let connection = try RunLoop.Connection(adopting: one, on: loop, options: options)
            #expect(!loop.isEmpty(inMode: mode))
            connection.abort()
            #expect(loop.isEmpty(inMode: mode))
            withExtendedLifetime(connection) {}
            close(other)
        }
    }
}

private func atOnce(after delay: Duration, on loop: RunLoop, _ action: @escaping @Sendable () -> Void) throws {
    try loop.add(RunLoop.Timer(at: .now + delay) { _ in action() }, forMode: .default)
}

private let idleLimit = RunLoop.Connection.Options(idleLimit: .seconds(60), outputLimit: 10_000_000, mode: .default)

/// A task takes one byte, which is counted, and asks for no other.
private func takeByte(of connection: RunLoop.Connection, on loop: RunLoop) -> Count {
    let (reader, taken) = (connection.makeReader(), Count())
    Task(executorPreference: loop.taskExecutor) {
        if try await reader.byte(isolation: nil) != nil { taken.increment() }
    }
    return taken
}

/// Reads lines, which are counted, until there are no more or an error is the outcome.
func countLines(
    of connection: RunLoop.Connection, on loop: RunLoop, _ lines: Count, _ outcome: Guarded<RunLoop.Error?>
) {
    let reader = connection.makeReader()
    Task(executorPreference: loop.taskExecutor) {
        do {
            while try await reader.line(isolation: nil) != nil { lines.increment() }
        } catch {
            outcome.withLock { $0 = error as? RunLoop.Error }
        }
    }
}

/// Reads bytes, which are counted, until there are no more or an error ends it.
func countBytes(of connection: RunLoop.Connection, on loop: RunLoop) -> Count {
    let (reader, bytes) = (connection.makeReader(), Count())
    Task(executorPreference: loop.taskExecutor) {
        while try await reader.byte(isolation: nil) != nil { bytes.increment() }
    }
    return bytes
}
