#if os(Linux)
internal import CRunLoopCore
internal import RunLoopKit
internal import Synchronization

/// How long a connection may be silent, a line of its input take, and an exchange last.
///
/// What has arrived counts, not what was read: a limit that has passed looks at the socket before anything ends. A reader that nobody waits
/// for is paused, and ends nothing.
final class ConnectionLimits: Sendable {
    private let loop: RunLoop
    private let idle: Int64?
    private let message: Int64?
    private let state = Guarded(State())
    /// Since when a task waits for input, if there is an idle limit; never: none does. 0: there is no reader that could.
    private let waitsSince = Atomic<Int64>(0)
    /// When a line began that is not complete; never: there is none.
    private let begunAt = Atomic<Int64>(Nanoseconds.never)
    /// How much had arrived when that line was found to be late; never: it was not.
    private let arrivedWithLine = Atomic<Int64>(Nanoseconds.never)

    private struct State {
        /// Looks for silence.
        var timer: RunLoop.Timer?
        /// Ends the connection when a line is late.
        var end: (@Sendable () -> Void)?
        /// When the exchange is over.
        var deadline: RunLoop.Instant?
        /// Has this as its deadline, from the first one on.
        var source: RunLoop.Source?
        /// How many bytes had arrived, and were accepted as output, when it was found to be over: the loop may be late with these, and whatever
        /// comes later is too late.
        var last: (input: Int64, output: Int64)?
    }

    init(_ loop: RunLoop, idle: Duration?, message: Duration?) {
        (self.loop, self.idle, self.message) = (loop, idle.map(Nanoseconds.of), message.map(Nanoseconds.of))
        precondition((self.idle ?? 1) > 0, "The idle limit of a connection is greater than zero.")
        precondition((self.message ?? 1) > 0, "The limit of a line is greater than zero.")
    }

    /// Begins to look.
    func start(
        _ socket: ConnectedSocket, _ writer: RunLoop.Writer, _ mode: RunLoop.Mode
    ) throws(RunLoop.Error) {
        if message != nil {
            // The last user of the socket may be freeing it when this is called.
            let end = { @Sendable [weak socket, weak writer] in if let socket { Self.end(socket, writer) } }
            state.withLock { $0.end = end }
        }
        guard let idle else { return }
        let timer = unsafe RunLoop.Timer(
            fireDate: Nanoseconds.fromNow(of: loop.core, idle), interval: idle, tolerance: idle / 8, order: 0
        ) { [weak socket, weak writer] timer in
            guard let socket else { return }
            if let delay = socket.limits.lookForSilence(idle, socket, writer) {
                timer.reschedule(after: .nanoseconds(delay))
            } else {
                Self.end(socket, writer)
            }
        }
        state.withLock { $0.timer = timer }
        try loop.admit(timer, to: mode)
    }

    private static func end(_ socket: ConnectedSocket, _ writer: RunLoop.Writer?) {
        RunLoop.Connection.end(socket, writer, because: .timedOut)
    }

    func invalidate() {
        let (timer, source) = state.withLock { ($0.timer, $0.source) }
        timer?.invalidate()
        source?.invalidate()
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
        arrivedWithLine.store(Nanoseconds.never, ordering: .relaxed)
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
        return RunLoop.Instant(nanosecondCount: Nanoseconds.sum(begun, message))
    }

    //===-- the exchange ---------------------------------------------------------------------------------------------===//

    var deadline: RunLoop.Instant? { state.withLock { $0.deadline } }

    func setDeadline(
        _ deadline: RunLoop.Instant?, of socket: ConnectedSocket, _ writer: RunLoop.Writer, _ mode: RunLoop.Mode
    ) {
        state.withLock { state in
            (state.deadline, state.last) = (deadline, nil)
            if state.source == nil && deadline != nil { state.source = makeSource(socket, writer, mode) }
            state.source?.deadline = deadline
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
        let isOver: Bool = state.withLock { state in
            guard let deadline = state.deadline else { return false }
            let now = Nanoseconds.now
            if deadline.nanoseconds > now {
                state.source?.deadline = deadline
                return false
            }
            let last = state.last ?? (socket.arrivedCount, writer?.acceptedCount ?? 0)
            if !willMove(socket, writer, until: last) { return true }
            state.last = last
            state.source?.deadline = RunLoop.Instant(nanoseconds: now + 10_000_000)
            return false
        }
        if isOver { Self.end(socket, writer) }
    }

    /// Whether the loop is late: of so many bytes, there is input for a task that waits, or output that can be sent.
    private func willMove(
        _ socket: ConnectedSocket, _ writer: RunLoop.Writer?, until last: (input: Int64, output: Int64)
    ) -> Bool {
        let (hasInput, takesOutput) = socket.readiness
        // The end of the input comes after its last byte.
        if hasInput && isAwaited && socket.readCount <= last.input { return true }
        guard let writer else { return false }
        return takesOutput && writer.sentCount < last.output
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
        if arrivedWithLine.load(ordering: .relaxed) == Nanoseconds.never {
            arrivedWithLine.store(socket.arrivedCount, ordering: .relaxed)
        }
        // The loop has not come to what had arrived.
        if socket.readiness.hasInput && socket.readCount <= arrivedWithLine.load(ordering: .relaxed) {
            return RunLoop.Instant(nanoseconds: now + max(message / 8, 1))
        }
        state.withLock { $0.end }?()
        return nil
    }
}
#endif
