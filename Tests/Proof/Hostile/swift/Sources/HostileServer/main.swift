// The server of ../server.c in Swift, for the same peers: `HostileServer FOLDER PATIENCE_MS`. A task for each connection, on the thread of one loop.
import Glibc
import RunLoopKit
import RunLoopKitLinux

actor Server: RunLoop.BoundActor {
    private let thread: RunLoop.Thread
    nonisolated var loop: RunLoop { thread.loop }
    private var counts = Counts()

    init() throws { thread = try RunLoop.Thread() }

    private struct Counts {
        var open = 0, accepted = 0, lines = 0, timedOut = 0, tooLong = 0, reset = 0, ended = 0
        var channels = 0, messages = 0, descriptors = 0, broken = 0, changes = 0, overflows = 0, failures = 0
        var readings = 0, read = 0

        var text: String {
            """
            open=\(open) accepted=\(accepted) lines=\(lines) timed_out=\(timedOut) too_long=\(tooLong) reset=\(reset) ended=\(ended) \
            channels=\(channels) messages=\(messages) descriptors=\(descriptors) broken=\(broken) changes=\(changes) \
            overflows=\(overflows) failures=\(failures) readings=\(readings) read=\(read)
            """
        }
    }

    /// The port.
    func begin(in folder: String, patience: Duration) throws -> UInt16 {
        let options = RunLoop.Connection.Options(
            idleLimit: patience, messageLimit: patience, outputLimit: 65_536, resetsWhenAborted: true)
        let listener = try RunLoop.Listener(.tcp(port: 0), on: loop, options: options)
        Task { for try await connection in listener.connections { Task { await serve(connection, patience) } } }
        Task { for try await changes in loop.changes(of: "\(folder)/watched", .tree) { note(changes) } }
        channels = try RunLoop.Channel.Listener(
            on: "\(folder)/channel", of: loop,
            receive: isolatedReceive, onEnd: { [weak self] _, reason in self?.assumeIsolated { $0.noteEnd(reason) } })
        return listener.port ?? 0
    }

    private var channels: RunLoop.Channel.Listener?

    private nonisolated var isolatedReceive: @Sendable (RunLoop.Channel, RunLoop.Channel.Message) -> Void {
        { [weak self] _, message in self?.assumeIsolated { $0.receive(message) } }
    }

    private func receive(_ message: RunLoop.Channel.Message) {
        counts.messages += 1
        counts.descriptors += message.descriptorCount
        if message.isRequest { try? message.reply([UInt8](repeating: 0, count: 8)) }
    }

    private func noteEnd(_ reason: RunLoop.ChannelError) {
        if reason != .closed { counts.broken += 1 }
    }

    private func note(_ changes: [RunLoop.FileChange]) {
        counts.changes += changes.count
        for change in changes {
            switch change.kind {
            case .overflow: counts.overflows += 1
            case .failed: counts.failures += 1
            default: break
            }
        }
    }

    private func serve(_ connection: RunLoop.Connection, _ patience: Duration) async {
        counts.open += 1
        counts.accepted += 1
        defer { counts.open -= 1 }
        do {
            let reader = connection.makeReader(bufferSize: 4096)
            while let line = try await nextLine(reader) {
                counts.lines += 1
                try await answer(line, to: connection.writer, patience)
            }
            try await connection.close()
            counts.ended += 1
        } catch RunLoop.Error.timedOut {
            counts.timedOut += 1
            connection.abort()
        } catch {
            counts.reset += 1
            connection.abort()
        }
    }

    private func nextLine(_ reader: RunLoop.Reader) async throws -> String? {
        do {
            return try await reader.line(limit: 4096)
        } catch RunLoop.Error.lineTooLong {
            counts.tooLong += 1
            try await reader.skipLine()
            return "too long"
        }
    }

    private func answer(_ line: String, to writer: RunLoop.Writer, _ patience: Duration) async throws {
        if line.hasPrefix("big "), var left = Int(line.dropFirst(4)) {
            let bytes = [UInt8](repeating: 0, count: 4096)
            while left > 0 { left -= try await writer.write(bytes.prefix(left)) }
            return
        }
        if line.hasPrefix("read ") {
            let path = String(line.dropFirst(5))
            Task { await read(path, patience) }
        }
        try await writer.write((line == "stat" ? counts.text : line) + "\n")
    }

    /// Reads what is there, whatever that is, to its end or the limit, or until it has been silent for long enough.
    private func read(_ path: String, _ patience: Duration) async {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        if descriptor < 0 { return }
        defer { close(descriptor) }
        counts.readings += 1
        defer { counts.readings -= 1 }
        let reader = RunLoop.Reader(borrowing: descriptor, on: loop)
        let limit = Task { try await self.sleep(patience * 2) }
        defer { limit.cancel() }
        let reading = Task {
            var left = 64 << 20
            while left > 0, let chunk = try await reader.chunk() {
                counts.read += chunk.count
                left -= chunk.count
            }
        }
        let watching = Task {
            try await limit.value
            reading.cancel()
        }
        _ = await reading.result
        watching.cancel()
    }

    private func sleep(_ duration: Duration) async throws { try await loop.clock.sleep(for: duration) }
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let patience = Int(arguments[2]) else {
    print("usage: HostileServer FOLDER PATIENCE_MS")
    exit(1)
}
let server = try Server()
print(try await server.begin(in: arguments[1], patience: .milliseconds(patience)))
fflush(nil)
while true { try await Task.sleep(for: .seconds(3600)) }
