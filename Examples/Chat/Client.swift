import RunLoopKit

/// One client: its connection, the lines that come from it, and what waits to be sent to it.
@MainActor final class Client {
    /// Talking; then, from the farewell on, only being sent what waits; then gone.
    private enum State { case talking, leaving, gone }

    let number: Int
    var name: String
    private unowned let server: Server
    private let socket: Socket
    private var state = State.talking
    private var lines: LineBuffer
    private var output: OutputBuffer
    private var source: RunLoop.Source?
    /// While the client talks, until it has said nothing for too long; then until it has been waited for long enough.
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

    /// How much waits to be sent, in bytes.
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

    /// Puts a line into the output. It is sent before the loop sleeps, together with what else there is by then.
    func send(_ line: String) {
        if state != .talking { return }
        if output.append(line) {
            server.setNeedsFlush(self)
        } else {
            leave("too slow", saying: "* You read too slowly. Goodbye.")
        }
    }

    /// Sends what the kernel takes. If that is not all, the loop calls when there is room.
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

    /// Takes nothing more from the client, and closes the connection when it has been sent what waits, last of all `words`.
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

    /// Closes the connection now. `reason` is for a client that has not left.
    func close(because reason: String? = nil) {
        if state == .gone { return }
        if state == .talking { server.hasLeft(self, because: reason ?? "connection closed") }
        state = .gone
        patience = nil
        source?.invalidate()
        // What nobody has read when a connection is closed makes the kernel reset it, and take back what was sent.
        // Who sends faster than this has no claim to it.
        for _ in 0..<64 {
            guard let rest = try? socket.read(), !rest.isEmpty else { break }
        }
        socket.close()
        server.isGone(self)
    }

    /// What cannot be read or written any more shows when it is tried.
    private func serve(_ events: RunLoop.Source.Readiness) {
        if state == .talking && events != .write { read() }
        if events != .read { flush() }
    }

    /// One read per call, so that nobody can talk so fast that others don't get a word in.
    private func read() {
        do throws(SystemError) {
            guard let bytes = try socket.read() else { return }
            patience?.reschedule(after: server.options.idleLimit)
            let complete = bytes.isEmpty ? lines.end() : lines.append(bytes)
            for line in complete where state == .talking { server.take(line, from: self) }
            // The client has ended its half. It may well be listening still: what waits for it is sent.
            if bytes.isEmpty { leave("has left", saying: nil) }
        } catch {
            close(because: "\(error)")
        }
    }

    /// A socket can nearly always be written to: a source that asks for it all the time would never let the loop sleep. Who is
    /// leaving is not listened to any more, and is what the last run is about.
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
