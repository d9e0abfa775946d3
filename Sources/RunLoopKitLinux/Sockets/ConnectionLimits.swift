internal import CRunLoopCore
internal import RunLoopKit
internal import Synchronization

/// How long a connection may be silent, a line of its input take, and an exchange last.
///
/// What has arrived counts, not what was read: who is due looks at the socket before anything ends. A reader that nobody waits for
/// is paused, and ends nothing.
final class ConnectionLimits: Sendable {
    private let loop: RunLoop
    private let idle: Int64?
    private let message: Int64?
    private let timer = Guarded<RunLoop.Timer?>(nil)
    /// Ends the connection.
    private let end = Guarded<(@Sendable () -> Void)?>(nil)
    /// When the exchange is over, and the source that has this as its deadline, from the first one on.
    private let exchange = Guarded<(deadline: RunLoop.Instant?, source: RunLoop.Source?)>((nil, nil))
    /// Since when a task waits for input, if there is an idle limit; never: none does. 0: there is no reader that could.
    private let waitsSince = Atomic<Int64>(0)
    /// When a line began that is not complete; never: there is none.
    private let begunAt = Atomic<Int64>(Nanoseconds.never)

    init(_ loop: RunLoop, idle: Duration?, message: Duration?) {
        (self.loop, self.idle, self.message) = (loop, idle.map(Nanoseconds.of), message.map(Nanoseconds.of))
        precondition((self.idle ?? 1) > 0, "The idle limit of a connection is greater than zero.")
        precondition((self.message ?? 1) > 0, "The limit of a line is greater than zero.")
    }

    /// Begins to look; `end` ends the connection.
    func start(
        _ socket: ConnectedSocket, _ writer: RunLoop.Writer, _ mode: RunLoop.Mode,
        end: @escaping @Sendable (ConnectedSocket, RunLoop.Writer?) -> Void
    ) throws(RunLoop.Error) {
        // The last user of the socket may be freeing it when this is called.
        self.end.withLock { $0 = { [weak socket, weak writer] in if let socket { end(socket, writer) } } }
        guard let idle else { return }
        let timer = unsafe RunLoop.Timer(
            fireDate: Nanoseconds.fromNow(of: loop.core, idle), interval: idle, tolerance: idle / 8, order: 0
        ) { [weak socket, weak writer] timer in
            guard let socket else { return }
            if let delay = socket.limits.lookForSilence(idle, socket, writer) {
                timer.reschedule(after: .nanoseconds(delay))
            } else {
                end(socket, writer)
            }
        }
        self.timer.withLock { $0 = timer }
        try loop.add(timer, forMode: mode)
    }

    func invalidate() {
        timer.withLock { $0 }?.invalidate()
        exchange.withLock { $0.source }?.invalidate()
    }

    //===-- the reader -----------------------------------------------------------------------------------------------===//

    /// A task waits for input from now on.
    func beginWait() {
        unsafe waitsSince.store(idle == nil ? 1 : runloop_get_now_ns(loop.core), ordering: .relaxed)
    }

    private var isAwaited: Bool {
        let wait = waitsSince.load(ordering: .relaxed)
        return wait != 0 && wait != Nanoseconds.never
    }

    /// No task waits for input; there is a reader.
    func endWait() { waitsSince.store(Nanoseconds.never, ordering: .relaxed) }

    /// A line has begun, unless that is known, and is not complete.
    func beginLine() {
        guard message != nil, begunAt.load(ordering: .relaxed) == Nanoseconds.never else { return }
        unsafe begunAt.store(runloop_get_now_ns(loop.core), ordering: .relaxed)
    }

    /// Nobody waits for the rest of a line any more.
    func endLine() {
        if message != nil { begunAt.store(Nanoseconds.never, ordering: .relaxed) }
    }

    /// When the line that has begun is to be complete.
    var lineDeadline: RunLoop.Instant? {
        let begun = begunAt.load(ordering: .relaxed)
        guard let message, begun != Nanoseconds.never else { return nil }
        let (sum, overflow) = begun.addingReportingOverflow(message)
        return overflow ? nil : RunLoop.Instant(nanoseconds: sum)
    }

    //===-- the exchange ---------------------------------------------------------------------------------------------===//

    var deadline: RunLoop.Instant? { exchange.withLock { $0.deadline } }

    func setDeadline(
        _ deadline: RunLoop.Instant?, of socket: ConnectedSocket, _ writer: RunLoop.Writer, _ mode: RunLoop.Mode
    ) {
        exchange.withLock { exchange in
            exchange.deadline = deadline
            if exchange.source == nil && deadline != nil { exchange.source = makeSource(socket, writer, mode) }
            exchange.source?.deadline = deadline
        }
    }

    private func makeSource(
        _ socket: ConnectedSocket, _ writer: RunLoop.Writer, _ mode: RunLoop.Mode
    ) -> RunLoop.Source {
        let perform: @Sendable (RunLoop.Source.Readiness) -> Void = { [weak self, weak socket, weak writer] _ in
            if let self, let socket { lookAtExchange(of: socket, writer) }
        }
        guard let source = try? RunLoop.Source(fileDescriptor: -1, perform: perform) else { outOfMemory() }
        loop.addUnlessOver(source, forMode: mode)
        return source
    }

    /// The deadline of the exchange has passed, unless it was set anew.
    private func lookAtExchange(of socket: ConnectedSocket, _ writer: RunLoop.Writer?) {
        let isOver: Bool = exchange.withLock { exchange in
            guard let deadline = exchange.deadline else { return false }
            let now = Nanoseconds.now
            let isLate = deadline.nanoseconds <= now
            if isLate && !willMove(socket, writer) { return true }
            exchange.source?.deadline = isLate ? RunLoop.Instant(nanoseconds: now + 10_000_000) : deadline
            return false
        }
        if isOver { end.withLock { $0 }?() }
    }

    /// Whether the loop is late: there is input for a task that waits, or output that can be sent.
    private func willMove(_ socket: ConnectedSocket, _ writer: RunLoop.Writer?) -> Bool {
        let (hasInput, takesOutput) = socket.readiness
        if hasInput && isAwaited { return true }
        return takesOutput && (writer?.waitingCount ?? 0) > 0
    }

    //===-- looks ----------------------------------------------------------------------------------------------------===//

    /// - Returns: when to look again; `nil` if it has been silent for so long.
    private func lookForSilence(_ limit: Int64, _ socket: ConnectedSocket, _ writer: RunLoop.Writer?) -> Int64? {
        let wait = waitsSince.load(ordering: .relaxed)
        let isPaused = wait == Nanoseconds.never
        let silence = Nanoseconds.now - max(socket.lastMove, writer?.lastMove ?? 0, isPaused ? 0 : wait)
        if silence < limit { return limit - silence }
        let (hasInput, takesOutput) = socket.readiness
        // The loop is late: it will read, or write.
        if hasInput && isAwaited { return limit }
        if let writer, writer.waitingCount > 0 { return takesOutput ? limit : nil }
        return hasInput || isPaused ? limit : nil
    }

    /// The deadline of a line, which a task waits for, has passed.
    ///
    /// - Returns: another deadline; `nil` if there is none, or the connection has ended.
    func lookAtLine(of socket: ConnectedSocket) -> RunLoop.Instant? {
        guard let message, let deadline = lineDeadline else { return nil }
        let now = Nanoseconds.now
        if deadline.nanoseconds > now { return deadline }
        // The loop has not come to what has arrived.
        if socket.readiness.hasInput { return RunLoop.Instant(nanoseconds: now + max(message / 8, 1)) }
        end.withLock { $0 }?()
        return nil
    }
}
