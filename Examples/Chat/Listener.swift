import RunLoopKit

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Accepts connections, and passes each one on.
@MainActor final class Listener {
    let port: UInt16
    private let socket: Socket
    private let loop: RunLoop
    private let whenConnected: @MainActor (Socket) -> Void
    private var source: RunLoop.Source?
    private var pause: RunLoop.Timeout?
    /// Closed when descriptors run out, so that a connection can be accepted and refused.
    private var spare = Listener.makeSpare()

    init(
        port: UInt16, everywhere: Bool, on loop: RunLoop, whenConnected: @escaping @MainActor (Socket) -> Void
    ) throws {
        socket = try Socket.listening(on: port, everywhere: everywhere)
        self.port = try socket.port()
        self.loop = loop
        self.whenConnected = whenConnected
        // A listening socket is readable while a connection waits.
        source = try RunLoop.Source(isolation: .shared, fileDescriptor: socket.descriptor) { [weak self] _ in
            self?.take()
        }
        try resume()
    }

    /// First the source, then the descriptor, whose number may be reused right afterwards.
    func close() {
        pause = nil
        source?.invalidate()
        source = nil
        socket.close()
        if spare >= 0 { closeDescriptor(spare) }
    }

    /// One connection per call. If more of them wait, the loop calls again after it has served the connected clients.
    private func take() {
        do throws(SystemError) {
            if let client = try socket.accept() { whenConnected(client) }
        } catch {
            if error.number == EMFILE || error.number == ENFILE { turnAway() } else { rest(because: error) }
        }
    }

    /// Without a descriptor for it a connection stays in the queue, and the socket stays ready: the loop would call again for ever.
    private func turnAway() {
        if spare >= 0 { closeDescriptor(spare) }
        defer { spare = Self.makeSpare() }
        do throws(SystemError) {
            guard let client = try socket.accept() else { return }
            _ = try? client.writeAll("* The server is full. Please try again later.\n")
            client.close()
            Log.complain("chat: out of descriptors; a client was turned away")
        } catch {
            rest(because: error)
        }
    }

    /// Memory ran out, or somebody else took the descriptor. Only time helps.
    private func rest(because error: SystemError) {
        Log.complain("chat: \(error); takes no clients for a second")
        guard let source else { return }
        loop.remove(source, forMode: .default)
        pause = RunLoop.Timeout(isolation: .shared, after: .seconds(1), tolerance: .milliseconds(500)) { [weak self] in
            do { try self?.resume() } catch { Log.complain("chat: takes no more clients: \(error)") }
        }
    }

    private func resume() throws {
        if let source { try loop.add(source, forMode: .default) }
    }

    private static func makeSpare() -> CInt { open("/dev/null", O_RDONLY | O_CLOEXEC) }
}

/// A global function, because the method of that name would hide the system call.
private func closeDescriptor(_ descriptor: CInt) { _ = close(descriptor) }
