#if os(Linux)
internal import CRunLoopLinux
internal import RunLoopKit
internal import RunLoopKitCLibrary
internal import Synchronization

/// The socket of a connection, closed when nobody has this object any more: a reader or a writer that outlives the connection never
/// touches a descriptor that is somebody else's by now.
final class ConnectedSocket: Sendable {
    let number: CInt
    /// When input last arrived, by the loop's clock; or output was last sent, if its writer has been freed since.
    private let latestMove: Atomic<Int64>
    private let bytesRead = Atomic<Int64>(0)
    /// What ended the connection, if the program did.
    private let reason = Guarded<RunLoop.Error?>(nil)
    let limits: ConnectionLimits
    /// The process at the other end, from the first question on.
    private let knownPeer = Guarded<runloop_peer?>(nil)

    init(_ number: CInt, now: Int64, _ limits: ConnectionLimits) {
        (self.number, self.limits) = (number, limits)
        latestMove = Atomic(now)
    }

    deinit {
        limits.invalidate()
        close(number)
        if let peer = knownPeer.withLock({ $0 }), peer.pidfd >= 0 { close(peer.pidfd) }
    }

    /// `nil` if the socket is not a Unix socket, or has no peer.
    var peer: runloop_peer? {
        get throws(RunLoop.Error) {
            let (result, peer): (Int32, runloop_peer?) = knownPeer.withLock { known in
                if let known { return (0, known) }
                var peer = runloop_peer()
                let result = unsafe runloop_socket_get_peer(number, &peer)
                if result == 0 { known = peer }
                return (result, known)
            }
            if result == -ErrorNumber.tooManyDescriptors {
                throw RunLoop.Error(result: result, of: .system, subject: "peer of descriptor \(number)")
            }
            return peer
        }
    }

    var lastMove: Int64 { latestMove.load(ordering: .relaxed) }

    func noteMove(at now: Int64) { latestMove.store(now, ordering: .relaxed) }

    func noteInput(_ count: Int) {
        noteMove(at: Nanoseconds.now)
        bytesRead.add(Int64(count), ordering: .relaxed)
    }

    /// How many bytes the loop has read so far.
    var readCount: Int64 { bytesRead.load(ordering: .relaxed) }

    /// How many bytes have arrived so far.
    var arrivedCount: Int64 { readCount + Int64(unreadCount(of: number)) }

    /// Whether there is input that nobody has read, an end or an error included, and whether output could be sent.
    var readiness: (hasInput: Bool, takesOutput: Bool) {
        var query = pollfd(fd: number, events: Int16(POLLIN | POLLOUT), revents: 0)
        guard unsafe poll(&query, 1, 0) > 0 else { return (false, false) }
        let events = Int32(query.revents)
        return (events & ~Int32(POLLOUT) != 0, events & Int32(POLLOUT) != 0)
    }

    /// Why reading and writing have ended; `nil`: because the peer has ended them.
    var failure: RunLoop.Error? { reason.withLock { $0 } }

    /// Ends both directions at once, for everybody: a wait for input comes to its end.
    func shutDown(because error: RunLoop.Error? = nil) {
        if let error { reason.withLock { $0 = error } }
        shutdown(number, CInt(SHUT_RDWR))
        limits.invalidate()
    }

    /// Drops the input that has arrived, up to a limit. A socket that is closed with unread input is reset, and its peer may lose
    /// what was sent to it before.
    func discardInput() {
        unsafe withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
            for _ in 0..<64 {
                if unsafe recv(number, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT)) <= 0 { return }
            }
        }
    }
}

/// Sends a few words that may be lost.
func sendOnce(_ text: String, to socket: CInt) {
    _ = unsafe text.utf8.withContiguousStorageIfAvailable {
        unsafe send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
    }
}

/// How many bytes a read would find.
func unreadCount(of descriptor: CInt) -> CInt {
    var count: CInt = 0
    _ = unsafe ioctl(descriptor, UInt(FIONREAD), &count)
    return count
}

/// A function, because Swift's files outside this folder have no C library.
func closeDescriptor(_ descriptor: CInt) { close(descriptor) }
#endif
