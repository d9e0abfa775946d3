internal import CRunLoopCore
internal import Synchronization

/// How long a connection may be silent, and a line of its input take.
///
/// What has arrived counts, not what was read: a timer that is due looks at the socket before it ends anything. A reader that nobody waits for
/// is paused, and ends nothing.
final class ConnectionLimits: Sendable {
    /// What a look has come to.
    private enum Look {
        case isOver
        /// Nothing before so long.
        case again(Int64)
        /// Nothing before a line begins.
        case park
    }

    private let loop: RunLoop
    private let idle: Int64?
    private let message: Int64?
    private let timers = Guarded<(idle: RunLoop.Timer?, message: RunLoop.Timer?)>((nil, nil))
    /// Since when a task waits for input; never: none does. 0: there is no reader that could.
    private let waitsSince = Atomic<Int64>(0)
    /// When a line began that is not complete; never: there is none.
    private let begunAt = Atomic<Int64>(Nanoseconds.never)
    /// The timer of lines waits for one to begin.
    private let isParked = Atomic<Bool>(true)

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
        let make = { [weak socket, weak writer] (limit: Int64, date: Int64, look: @escaping LookAt) in
            RunLoop.Timer(fireDate: date, interval: limit, tolerance: limit / 8, order: 0) { timer in
                // The last user of the socket may be freeing it now.
                guard let socket else { return }
                switch look(socket, writer) {
                case .isOver: end(socket, writer)
                case .again(let delay): timer.reschedule(after: .nanoseconds(delay))
                case .park: socket.limits.park(timer)
                }
            }
        }
        if let idle {
            let timer = make(idle, Nanoseconds.fromNow(of: loop.core, idle)) { socket, writer in
                socket.limits.lookForSilence(idle, socket, writer)
            }
            timers.withLock { $0.idle = timer }
            try loop.add(timer, forMode: mode)
        }
        if let message {
            let timer = make(message, Nanoseconds.never) { socket, _ in socket.limits.lookAtLine(message, socket) }
            timers.withLock { $0.message = timer }
            try loop.add(timer, forMode: mode)
        }
    }

    func invalidate() {
        let timers = timers.withLock { $0 }
        timers.idle?.invalidate()
        timers.message?.invalidate()
    }

    //===-- the reader -----------------------------------------------------------------------------------------------===//

    /// A task waits for input from now on.
    func beginWait() {
        if idle != nil || message != nil { waitsSince.store(runloop_get_now_ns(loop.core), ordering: .relaxed) }
    }

    /// No task waits for input; there is a reader.
    func endWait() { waitsSince.store(Nanoseconds.never, ordering: .relaxed) }

    /// A line has begun, unless that is known, and is not complete.
    func beginLine() {
        guard let message, begunAt.load(ordering: .relaxed) == Nanoseconds.never else { return }
        begunAt.store(runloop_get_now_ns(loop.core), ordering: .sequentiallyConsistent)
        unpark(after: message)
    }

    /// Nobody waits for the rest of a line any more.
    func endLine() {
        if message != nil { begunAt.store(Nanoseconds.never, ordering: .relaxed) }
    }

    //===-- looks ----------------------------------------------------------------------------------------------------===//

    private typealias LookAt = @Sendable (ConnectedSocket, RunLoop.Writer?) -> Look

    private func lookForSilence(_ limit: Int64, _ socket: ConnectedSocket, _ writer: RunLoop.Writer?) -> Look {
        let wait = waitsSince.load(ordering: .relaxed)
        let isPaused = wait == Nanoseconds.never
        let silence = Nanoseconds.now - max(socket.lastMove, writer?.lastMove ?? 0, isPaused ? 0 : wait)
        if silence < limit { return .again(limit - silence) }
        let (hasInput, takesOutput) = socket.readiness
        // The loop is late: it will read, or write.
        if hasInput && !isPaused { return .again(limit) }
        if let writer, writer.waitingCount > 0 { return takesOutput ? .again(limit) : .isOver }
        return isPaused ? .again(limit) : .isOver
    }

    private func lookAtLine(_ limit: Int64, _ socket: ConnectedSocket) -> Look {
        let begun = begunAt.load(ordering: .sequentiallyConsistent)
        if begun == Nanoseconds.never { return .park }
        let age = Nanoseconds.now - begun
        if age < limit { return .again(limit - age) }
        let isPaused = waitsSince.load(ordering: .relaxed) == Nanoseconds.never
        // The task has not come to what was read, or the loop not to what has arrived.
        return isPaused || socket.readiness.hasInput ? .again(max(limit / 8, 1)) : .isOver
    }

    private func park(_ timer: RunLoop.Timer) {
        timer.setFireDate(Nanoseconds.never)
        isParked.store(true, ordering: .sequentiallyConsistent)
        // A line may have begun when it was not parked yet.
        if let message, begunAt.load(ordering: .sequentiallyConsistent) != Nanoseconds.never { unpark(after: message) }
    }

    private func unpark(after limit: Int64) {
        guard isParked.exchange(false, ordering: .sequentiallyConsistent) else { return }
        timers.withLock { $0.message }?.setFireDate(Nanoseconds.fromNow(of: loop.core, limit))
    }
}
