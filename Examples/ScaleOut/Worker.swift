import RunLoopKit
import RunLoopKitLinux

/// A loop with its connections. Everything in it happens on the loop's thread: the listener accepts, the port receives, and the
/// tasks of connections run there, so nothing needs a lock.
actor Worker: RunLoop.BoundActor {
    nonisolated let number: Int
    nonisolated let loop: RunLoop
    nonisolated let counters = Counters()
    private let slack: Int
    private var listener: RunLoop.Listener?
    /// Of all loops, this one's included; none before the beginning and after the end.
    private var peers: [Peer] = []
    /// By numbers, in the order in which they came.
    private var connections: [Int: (connection: RunLoop.Connection, place: Place, isBusy: Bool)] = [:]
    private var connectionsSoFar = 0
    private var isEnding = false
    private var patience: RunLoop.Timer?
    private var onLastConnection: CheckedContinuation<Void, Never>?

    /// How other loops reach this one.
    struct Peer: Sendable {
        let number: Int
        let counters: Counters
        let port: RunLoop.Port<Handed, Void>
    }

    /// A connection on its way to another loop, and its place there.
    struct Handed: Sendable {
        let socket: Socket
        let place: Place
    }

    init(_ number: Int, on loop: RunLoop, slack: Int) {
        (self.number, self.loop, self.slack) = (number, loop, slack)
    }

    /// The port by which connections are handed over to this loop. It is bounded: a loop that does not keep up gets no more.
    nonisolated func makePeer() throws -> Peer {
        let port = try RunLoop.Port<Handed, Void>(
            on: loop,
            receive: self.isolated { worker, message in
                worker.take(message.request)
            })
        return Peer(number: number, counters: counters, port: port)
    }

    /// Accepts connections from now on.
    func begin(at address: RunLoop.Listener.Address, _ peers: [Peer]) throws {
        self.peers = peers
        let listener = try RunLoop.Listener(address, on: loop)
        self.listener = listener
        // On the loop's thread, which is the actor's.
        try listener.accept { [weak self] connection in self?.assumeIsolated { $0.accept(connection) } }
    }

    //===-- connections arrive ---------------------------------------------------------------------------------------===//

    private func accept(_ connection: RunLoop.Connection) {
        counters.accepted.count()
        if handOver(connection) { return counters.handedOver.count() }
        serve(connection, Place(among: counters))
    }

    /// Gives a connection to the loop that has the fewest, if it has fewer by more than the slack: another descriptor of the socket goes
    /// there, and when this loop frees its connection, which has read and written nothing yet, its own descriptor is closed.
    private func handOver(_ connection: RunLoop.Connection) -> Bool {
        guard let emptiest = peers.min(by: { $0.counters.open.now < $1.counters.open.now }),
            counters.open.now > emptiest.counters.open.now + slack, emptiest.number != number,
            let socket = Socket(sharing: connection.fileDescriptor)
        else { return false }
        // Taken by the sender, so that a burst does not go to the same loop until that has received it.
        let place = Place(among: emptiest.counters)
        return (try? emptiest.port.send(Handed(socket: socket, place: place))) != nil
    }

    private func take(_ handed: Handed) {
        guard !isEnding, let connection = try? RunLoop.Connection(adopting: handed.socket.take(), on: loop) else {
            return
        }
        counters.taken.count()
        serve(connection, handed.place)
    }

    //===-- requests -------------------------------------------------------------------------------------------------===//

    private func serve(_ connection: RunLoop.Connection, _ place: Place) {
        connectionsSoFar += 1
        let key = connectionsSoFar
        connections[key] = (connection, place, false)
        Task {
            // A client that is gone needs nothing more.
            try? await converse(connection, key)
            setBusy(false, key)
            connections[key] = nil
            if connections.isEmpty { onLastConnection.take()?.resume() }
        }
    }

    private func converse(_ connection: RunLoop.Connection, _ key: Int) async throws {
        let reader = connection.makeReader()
        var keepsOpen = true
        while keepsOpen {
            setBusy(false, key)
            let request = try await Request.next(from: reader, isolation: self) { setBusy(true, key) }
            counters.requests.count(request == nil ? 0 : 1)
            keepsOpen = (request?.keepsOpen ?? false) && !isEnding
            if request == nil && connections[key]?.isBusy != true { break }
            try await connection.writer.write(answer(to: request, keepsOpen: keepsOpen))
        }
        try await connection.close()
    }

    /// From the first line of a request to the end of its answer.
    private func setBusy(_ isBusy: Bool, _ key: Int) {
        if connections[key]?.isBusy == isBusy { return }
        connections[key]?.isBusy = isBusy
        counters.busy.count(isBusy ? 1 : -1)
    }

    private func answer(to request: Request?, keepsOpen: Bool) -> String {
        switch request?.path {
        case nil: response("400 Bad Request", "That was no request.\n", keepsOpen: false)
        case "/": response("200 OK", "Hello from loop \(number).\n", keepsOpen: keepsOpen)
        case "/counters":
            response(
                "200 OK", peers.map { "loop \($0.number): \($0.counters.summary)\n" }.joined(), keepsOpen: keepsOpen)
        default: response("404 Not Found", "There is nothing.\n", keepsOpen: keepsOpen)
        }
    }

    //===-- the end --------------------------------------------------------------------------------------------------===//

    /// Accepts nothing more, and ends the connections that are idle. The others end with the answer to their request, or when the limit is
    /// over.
    func beginEnd(within limit: Duration) throws {
        isEnding = true
        listener?.invalidate()
        peers.first { $0.number == number }?.port.invalidate()
        for (connection, _, isBusy) in connections.values where !isBusy { connection.abort() }
        let patience = RunLoop.Timer(
            after: limit,
            self.isolated { worker, _ in
                for (connection, _, _) in worker.connections.values { connection.abort() }
            })
        try loop.add(patience, forMode: .common)
        self.patience = patience
    }

    /// Waits until the last connection is gone.
    func finishEnd() async {
        if !connections.isEmpty { await withCheckedContinuation { onLastConnection = $0 } }
        patience?.invalidate()
        peers = []
    }
}
