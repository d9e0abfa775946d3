#if os(Linux)
internal import CRunLoopSimulation
public import RunLoopKit
internal import RunLoopKitCLibrary
public import RunLoopKitLinux

extension RunLoop.Simulation {
    /// Makes two connected descriptors for messages, AF_UNIX and SOCK_DGRAM, which delay, lose and reorder them, as the seed decides for each.
    ///
    /// They are non-blocking, and the caller's, which closes them or gives them to an adopter. From a task of the simulation.
    ///
    /// - Parameters:
    ///   - delay: how long a message takes, in the simulation's time.
    ///   - lossPercentage: how many of a hundred messages are lost.
    ///   - reorders: may a later message come first?
    public func makeMessageLink(
        delay: ClosedRange<Duration> = .zero ... .milliseconds(20), lossPercentage: Int = 0, reorders: Bool = false
    ) throws -> (CInt, CInt) {
        try makeLink(.messages, Transport(delay: delay, lossPercentage: lossPercentage, reorders: reorders))
    }

    /// Makes two connected descriptors for a stream of bytes, AF_UNIX and SOCK_STREAM, which arrives in order, and in pieces of any length: reads
    /// are short. Nothing is lost. Otherwise as `makeMessageLink`.
    public func makeStreamLink(
        delay: ClosedRange<Duration> = .zero ... .milliseconds(20)
    ) throws -> (CInt, CInt) {
        try makeLink(.stream, Transport(delay: delay))
    }

    /// Makes two connections with each other, whose bytes go over a link as that of `makeStreamLink`. They are the caller's, as any connection,
    /// and close the link's descriptors. A link has space for some bytes, and a writer of more waits for the reader.
    ///
    ///     try await simulate(seeds: 100) { simulation in
    ///         let (client, server) = try simulation.makeConnections()
    ///         try await client.writer.write("ping\n")
    ///         let line = try await server.makeReader().line()
    ///         try simulation.require(line == "ping", "a line arrives")
    ///     }
    ///
    /// - Parameters:
    ///   - first: the loop of the first one; `nil`: that of the tasks.
    ///   - second: the same for the second.
    ///   - delay: how long bytes take.
    ///   - lossPercentage: in so many of a hundred cases that something is on its way, the connection is lost for both: the peer has died.
    public func makeConnections(
        on first: RunLoop? = nil, and second: RunLoop? = nil,
        delay: ClosedRange<Duration> = .zero ... .milliseconds(20),
        lossPercentage: Int = 0
    ) throws -> (RunLoop.Connection, RunLoop.Connection) {
        let (near, far) = try makeLink(.stream, Transport(delay: delay, lossPercentage: lossPercentage))
        let nearer: RunLoop.Connection
        do {
            nearer = try RunLoop.Connection(adopting: near, on: first ?? loop)
        } catch {
            close(far)
            throw error
        }
        return (nearer, try RunLoop.Connection(adopting: far, on: second ?? loop))
    }

    private func makeLink(_ kind: Relay.Kind, _ transport: Transport) throws -> (CInt, CInt) {
        let (near, nearRelayed) = try socketPair(kind)
        keepUntilEnd([nearRelayed])
        var given = [near]
        do {
            let (far, farRelayed) = try socketPair(kind)
            keepUntilEnd([farRelayed])
            given.append(far)
            try relay(from: nearRelayed, to: farRelayed, kind, transport)
            try relay(from: farRelayed, to: nearRelayed, kind, transport)
            return (near, far)
        } catch {
            closeAll(given)
            throw error
        }
    }

    private func relay(
        from origin: CInt, to destination: CInt, _ kind: Relay.Kind, _ transport: Transport
    ) throws {
        let relay = Relay(kind, transport, from: origin, to: destination, of: self)
        relays.withLock { $0.append(relay) }
        let source = try RunLoop.Source(fileDescriptor: origin) { [weak self, weak relay] _ in
            if let self { relay?.relay(of: self) }
        }
        let space = try RunLoop.Source(fileDescriptor: destination, events: .write) { [weak relay] _ in
            relay?.handOver()
        }
        try space.watch(for: [])
        relay.sources.withLock { $0 = (source, space) }
        try loop.add(source, forMode: .common)
        try loop.add(space, forMode: .common)
    }
}

/// What may happen on the way between the two ends of a link.
private struct Transport {
    let delay: ClosedRange<Duration>
    var lossPercentage = 0
    var reorders = false
}

/// One direction of a link, between two of its four descriptors. All but its beginning is on the thread of the simulation's own loop.
private final class Relay: Sendable {
    enum Kind {
        case messages, stream
    }

    /// What is on its way.
    private struct Traffic {
        /// When the last message arrives that was sent so far.
        var lastArrival: RunLoop.Instant
        /// What has arrived, and finds no space at the destination. `nil`: the end of the stream.
        var arrived: [[UInt8]?] = []
        /// Bytes that were read and are not at the destination.
        var count = 0
        var isPaused = false
    }

    /// For what comes from the origin, and for space at the destination.
    let sources = Guarded<(origin: RunLoop.Source, space: RunLoop.Source)?>(nil)
    private let kind: Kind
    private let transport: Transport
    private let origin: CInt
    private let destination: CInt
    private let traffic: Guarded<Traffic>
    /// With so many bytes on their way, no more are read: the writer has to wait for the reader.
    private static let capacity = 65536

    init(
        _ kind: Kind, _ transport: Transport, from origin: CInt, to destination: CInt,
        of simulation: RunLoop.Simulation
    ) {
        self.kind = kind
        self.transport = transport
        self.origin = origin
        self.destination = destination
        traffic = Guarded(Traffic(lastArrival: simulation.now))
    }

    func relay(of simulation: RunLoop.Simulation) {
        while traffic.withLock({ $0.count }) < Self.capacity {
            guard let bytes = receive() else { return }
            if kind == .messages {
                deliver(bytes, of: simulation)
                continue
            }
            if bytes.isEmpty {
                sources.withLock { $0 }?.origin.invalidate()
                return deliver(nil, of: simulation)
            }
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(1 + simulation.choose(rest.count))
                rest = rest.dropFirst(piece.count)
                deliver(Array(piece), of: simulation)
            }
        }
        pause(true)
    }

    /// A whole message, or what there is of a stream; `nil` if there is nothing now.
    private func receive() -> [UInt8]? {
        withoutFaults {
            let size = kind == .stream ? Self.capacity : recv(origin, nil, 0, CInt(MSG_PEEK) | CInt(MSG_TRUNC))
            if size < 0 { return nil }
            var isThere = false
            // Without a capacity it would be the empty array of all threads, whose count would be written.
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: max(size, 1)) { buffer, count in
                let received = unsafe recv(origin, buffer.baseAddress, size, 0)
                (isThere, count) = (received >= 0, max(0, received))
            }
            return isThere ? bytes : nil
        }
    }

    private func pause(_ isPaused: Bool) {
        traffic.withLock { $0.isPaused = isPaused }
        // One that is not valid any more has read the end.
        try? sources.withLock { $0 }?.origin.watch(for: isPaused ? [] : .read)
    }

    /// `nil`: the end of the stream.
    private func deliver(_ bytes: [UInt8]?, of simulation: RunLoop.Simulation) {
        let isLost = simulation.schedule.choices.happens(percentage: transport.lossPercentage)
        let count = bytes?.count ?? 0
        if isLost && kind == .messages { return simulation.schedule.tell(.link("loses \(count) bytes")) }
        if let bytes {
            simulation.schedule.tell(
                .link("takes \(String(decoding: bytes.prefix(20), as: UTF8.self).debugDescription)"))
        }
        let steps = 8
        let span = transport.delay.upperBound - transport.delay.lowerBound
        var arrival = simulation.now + transport.delay.lowerBound + span / steps * simulation.choose(steps + 1)
        traffic.withLock { traffic in
            if !transport.reorders { arrival = max(arrival, traffic.lastArrival) }
            traffic.lastArrival = max(arrival, traffic.lastArrival)
            traffic.count += count
        }
        simulation.loop.perform(after: arrival - simulation.now) { [self, weak simulation] in
            guard let simulation else { return }
            if isLost {
                // What was sent before it arrives.
                simulation.schedule.tell(.link("breaks the connection"))
                breakConnection()
            } else {
                traffic.withLock { $0.arrived.append(bytes) }
                // Otherwise those that came first wait for space.
                if traffic.withLock({ $0.arrived.count }) == 1 { handOver() }
            }
        }
    }

    /// Both ends see that the other one is gone.
    private func breakConnection() {
        for end in [origin, destination] { shutdown(end, CInt(SHUT_RDWR)) }
    }

    /// Hands over what has arrived, in order, as far as there is space.
    func handOver() {
        while let next = traffic.withLock({ $0.arrived.first }) {
            guard let bytes = next else {
                sources.withLock { $0 }?.space.invalidate()
                shutdown(destination, CInt(SHUT_WR))
                return
            }
            let sent = withoutFaults { unsafe send(destination, bytes, bytes.count, CInt(MSG_NOSIGNAL)) }
            if sent < 0 && errno == EAGAIN { break }
            // A destination that is gone takes all of it.
            let count = sent >= 0 ? sent : bytes.count
            traffic.withLock { traffic in
                traffic.count -= count
                traffic.arrived.removeFirst()
                if count < bytes.count { traffic.arrived.insert(Array(bytes[count...]), at: 0) }
            }
        }
        let isFull = traffic.withLock { !$0.arrived.isEmpty }
        try? sources.withLock { $0 }?.space.watch(for: isFull ? .write : [])
        if traffic.withLock({ $0.isPaused && $0.count < Self.capacity / 2 }) { pause(false) }
    }
}

/// The simulation's own calls are not the program's.
private func withoutFaults<Result>(_ call: () -> Result) -> Result {
    let isSimulated = runloop_simulation_enter()
    defer { if isSimulated { runloop_simulation_exit() } }
    return call()
}

private func socketPair(_ kind: Relay.Kind) throws(RunLoop.Error) -> (CInt, CInt) {
    var ends: [CInt] = [-1, -1]
    let type = kind == .messages ? SOCK_DGRAM : SOCK_STREAM
    #if canImport(Glibc)
    let flags = CInt(type.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    #else
    let flags = CInt(type) | CInt(SOCK_NONBLOCK) | CInt(SOCK_CLOEXEC)
    #endif
    if unsafe socketpair(AF_UNIX, flags, 0, &ends) != 0 { throw RunLoop.Error(errorNumber: errno) }
    return (ends[0], ends[1])
}

func closeAll(_ descriptors: [CInt]) {
    for descriptor in descriptors { close(descriptor) }
}

extension RunLoop.Simulation {
    fileprivate var now: RunLoop.Instant { loop.clock.now }
}
#endif
