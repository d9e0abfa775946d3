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
    private var lastHeard = RunLoop.Instant.now
    private var source: RunLoop.Source?
    private var timer: RunLoop.Timer?

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
        watchIdleness(for: server.options.idleLimit)
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
        timer?.invalidate()
        timer = RunLoop.Timer(isolation: .shared, after: server.options.farewell, tolerance: .seconds(1)) {
            [weak self] _ in
            self?.close()
        }
        if let timer { server.loop.add(timer, forMode: .default) }
        flush()
    }

    /// Closes the connection now. `reason` is for a client that has not left.
    func close(because reason: String? = nil) {
        if state == .gone { return }
        if state == .talking { server.hasLeft(self, because: reason ?? "connection closed") }
        state = .gone
        timer?.invalidate()
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
            lastHeard = .now
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

    /// A timer that is moved with each line would be a lot of moving. This one looks, when it fires, how much of the time is
    /// left. It repeats, because a timer that fires once cannot be given another date then; the interval never matters.
    private func watchIdleness(for limit: Duration) {
        let timer = RunLoop.Timer(isolation: .shared, every: limit, tolerance: limit / 10) { [weak self] timer in
            guard let self else { return }
            let end = lastHeard + limit
            if end > .now {
                timer.nextFireDate = end
                return
            }
            leave("idle for too long", saying: "* You have said nothing for too long. Goodbye.")
        }
        server.loop.add(timer, forMode: .default)
        self.timer = timer
    }
}
