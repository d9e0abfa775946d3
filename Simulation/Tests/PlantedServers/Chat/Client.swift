import RunLoopKit
import RunLoopKitLinux

/// One client: its connection, and the conversation with it.
@MainActor final class Client {
    /// Talking; from the farewell on, only receiving the waiting output; then gone.
    private enum State { case talking, leaving, gone }

    let number: Int
    var name: String
    private unowned let server: Server
    private let connection: RunLoop.Connection
    private var state = State.talking
    /// While the client talks, limits its silence; after that, limits how long the server waits for it.
    private var patience: RunLoop.Timeout?

    init(_ connection: RunLoop.Connection, number: Int, server: Server) {
        self.number = number
        self.server = server
        self.connection = connection
        name = "guest\(number)"
    }

    var isTalking: Bool { state == .talking }

    /// The size of the waiting output, in bytes.
    var backlog: Int { connection.writer.waitingCount }

    func begin() {
        let limit = server.options.idleLimit
        patience = RunLoop.Timeout(
            on: .main, after: limit, tolerance: limit / 10,
            RunLoop.onMainActor { [weak self] in
                self?.leave("idle for too long", saying: "* You have said nothing for too long. Goodbye.")
            })
        Task { await listen() }
    }

    /// Until the client has shut down its half. It may still be listening, so its output is sent.
    private func listen() async {
        let reader = connection.makeReader()
        do {
            while state == .talking, let line = try await nextLine(reader) {
                patience?.reschedule(after: server.options.idleLimit)
                // The bug: the client may have left since the line came.
                server.take(line, from: self)
            }
            leave("has left", saying: nil)
        } catch {
            close(because: "\(error)")
        }
    }

    private func nextLine(_ reader: RunLoop.Reader) async throws -> RunLoop.Line? {
        do {
            return try await reader.line(limit: server.options.lineLimit).map { .text(Self.cleaned($0)) }
        } catch RunLoop.Error.lineTooLong {
            try await reader.skipLine()
            return .tooLong
        }
    }

    /// Control characters are removed, because they would reach the terminals of all other clients.
    private static func cleaned(_ line: String) -> String {
        String(String.UnicodeScalarView(line.unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }

    /// Enqueues a line, which the loop sends with all others of this iteration.
    func send(_ line: String) {
        if state != .talking { return }
        if backlog + line.utf8.count + 1 > server.options.outputLimit || !enqueue(line) {
            leave("too slow", saying: "* You read too slowly. Goodbye.")
        }
    }

    /// A connection that has failed is closed when it is read next.
    private func enqueue(_ line: String) -> Bool {
        do {
            return try connection.writer.enqueue(line + "\n")
        } catch {
            return error as? RunLoop.Error != .outputTooLarge
        }
    }

    /// Reads nothing more from the client, and closes the connection after sending the waiting output and then `words`, for which
    /// the writer has space beyond the limit.
    func leave(_ reason: String, saying words: String?) {
        if state != .talking { return }
        state = .leaving
        if let words { _ = enqueue(words) }
        server.hasLeft(self, because: reason)
        patience = RunLoop.Timeout(
            on: .main, after: server.options.farewell, tolerance: .seconds(1), inMode: .default,
            RunLoop.onMainActor {
                [weak self] in
                self?.close()
            })
        Task {
            try? await connection.close()
            close()
        }
    }

    /// Closes the connection now. `reason` applies to a client that has not left by itself.
    func close(because reason: String? = nil) {
        if state == .gone { return }
        if state == .talking { server.hasLeft(self, because: reason ?? "connection closed") }
        state = .gone
        patience = nil
        connection.abort()
        server.isGone(self)
    }
}
