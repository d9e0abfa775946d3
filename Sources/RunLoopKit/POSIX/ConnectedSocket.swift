internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// The socket of a connection, closed when nobody has this object any more: a reader or a writer that outlives the connection never
/// touches a descriptor that is somebody else's by now.
final class ConnectedSocket: Sendable {
    let number: CInt
    /// When input last arrived, by the loop's clock; or output was last sent, if its writer has been freed since.
    private let latestMove: Atomic<Int64>
    /// The error number of what ended the connection, if the program did; 0 otherwise.
    private let reason = Atomic<CInt>(0)
    private let idleTimer = Guarded<RunLoop.Timer?>(nil)

    init(_ number: CInt, now: Int64) {
        self.number = number
        latestMove = Atomic(now)
    }

    deinit {
        idleTimer.withLock { $0 }?.invalidate()
        close(number)
    }

    var lastMove: Int64 { latestMove.load(ordering: .relaxed) }

    func noteMove(at now: Int64) { latestMove.store(now, ordering: .relaxed) }

    /// Has a timer that lasts as long as the socket, or until it is shut down.
    func keep(_ timer: RunLoop.Timer) { idleTimer.withLock { $0 = timer } }

    /// Why reading and writing have ended; `nil`: because the peer has ended them.
    var failure: RunLoop.Error? {
        let number = reason.load(ordering: .acquiring)
        return number == 0 ? nil : RunLoop.Error(errorNumber: number)
    }

    /// Ends both directions at once, for everybody: a wait for input comes to its end.
    func shutDown(because error: RunLoop.Error? = nil) {
        if let error { reason.store(error.errorNumber, ordering: .releasing) }
        shutdown(number, CInt(SHUT_RDWR))
        idleTimer.withLock { $0 }?.invalidate()
    }

    /// Drops the input that has arrived, up to a limit. A socket that is closed with unread input is reset, and its peer may lose
    /// what was sent to it before.
    func discardInput() {
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
            for _ in 0..<64 {
                if recv(number, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT)) <= 0 { return }
            }
        }
    }
}

/// Sends a few words that may be lost.
func sendOnce(_ text: String, to socket: CInt) {
    _ = text.utf8.withContiguousStorageIfAvailable {
        send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
    }
}

/// A function, because Swift's files outside this folder have no C library.
func closeDescriptor(_ descriptor: CInt) { close(descriptor) }
