import RunLoopKit

/// One client: its connection, the lines it sends, and the output that waits for it.
@MainActor final class Client {
    /// Talking; from the farewell on, only receiving the waiting output; then gone.
    private enum State { case talking, leaving, gone }

    let number: Int
    var name: String
    private unowned let server: Server
    private let socket: Socket
    private var state = State.talking
    private var lines: LineBuffer
    private var output: OutputBuffer
    private var source: RunLoop.Source?
    /// While the client talks, limits its silence; after that, limits how long the server waits for it.
    private var patience: RunLoop.Timeout?

    init(_ socket: Socket, number: Int, server: Server) {
        self.number = number
        self.server = server
        self.socket = socket
        name = "guest\(number)"
        lines = LineBuffer(limit: server.options.lineLimit)
        output = OutputBuffer(limit: server.options.outputLimit)
    }

    var isTalking: Bool { state == .talking }

    /// The size of the waiting output, in bytes.
    var backlog: Int { output.count }

    func begin() throws {
        let source = try RunLoop.Source(isolation: .shared, fileDescriptor: socket.descriptor) { [weak self] events in
            self?.serve(events)
        }
        try server.loop.add(source, forMode: .default)
        self.source = source
        let limit = server.options.idleLimit
        patience = RunLoop.Timeout(isolation: .shared, after: limit, tolerance: limit / 10) { [weak self] in
            self?.leave("idle for too long", saying: "* You have said nothing for too long. Goodbye.")
        }
    }

    /// Appends a line to the output, which is sent as a whole before the loop sleeps.
    func send(_ line: String) {
        if state != .talking { return }
        if output.append(line) {
            server.setNeedsFlush(self)
        } else {
            leave("too slow", saying: "* You read too slowly. Goodbye.")
        }
    }

    /// Sends as much as the kernel accepts. The loop calls again for the rest when there is space.
    func flush() {
        if state == .gone { return }
        do {
            try output.flush(socket.write)
            if output.isEmpty && state == .leaving { return close() }
            try askForWhatIsNeeded()
        } catch {
            close(because: "\(error)")
        }
    }

    /// Reads nothing more from the client, and closes the connection after sending the waiting output and then `words`.
    func leave(_ reason: String, saying words: String?) {
        if state != .talking { return }
        state = .leaving
        if let words, !output.append(words) { output.replaceUnsent(with: words) }
        server.hasLeft(self, because: reason)
        patience = RunLoop.Timeout(isolation: .shared, after: server.options.farewell, tolerance: .seconds(1)) {
            [weak self] in
            self?.close()
        }
        flush()
    }

    /// Closes the connection now. `reason` applies to a client that has not left by itself.
    func close(because reason: String? = nil) {
        if state == .gone { return }
        if state == .talking { server.hasLeft(self, because: reason ?? "connection closed") }
        state = .gone
        patience = nil
        source?.invalidate()
        // Unread input makes the kernel reset a closed connection and discard its output. So the input is read first; a client
        // that sends faster than that may lose its output.
        for _ in 0..<64 {
            guard let rest = try? socket.read(), !rest.isEmpty else { break }
        }
        socket.close()
        server.isGone(self)
    }

    /// Reading and writing find out whether the connection has failed.
    private func serve(_ events: RunLoop.Source.Readiness) {
        if state == .talking && events != .write { read() }
        if events != .read { flush() }
    }

    /// One read per call, so that a fast talker does not keep the others from being served.
    private func read() {
        do throws(SystemError) {
            guard let bytes = try socket.read() else { return }
            patience?.reschedule(after: server.options.idleLimit)
            let complete = bytes.isEmpty ? lines.end() : lines.append(bytes)
            for line in complete where state == .talking { server.take(line, from: self) }
            // The client has shut down its half. It may still be listening, so its output is sent.
            if bytes.isEmpty { leave("has left", saying: nil) }
        } catch {
            close(because: "\(error)")
        }
    }

    /// A socket is writable nearly always: a source that always asked for that would never let the loop sleep. A leaving client
    /// is not read from any more, and is in the mode of the last run.
    private func askForWhatIsNeeded() throws(RunLoop.Error) {
        guard let source else { return }
        if state == .leaving {
            try source.setEvents(.write)
            try server.loop.add(source, forMode: .farewell)
        } else {
            try source.setEvents(output.isEmpty ? .read : [.read, .write])
        }
    }
}
