import RunLoopKit
import RunLoopKitSimulation

extension CatalogueBug {
    static let pools: [CatalogueBug] = [
        CatalogueBug(
            "vapor/postgres-nio #443",
            "a ping fails because the connection is being closed, and reports its end as well",
            pingWhileClosing),
        CatalogueBug(
            "vapor/postgres-nio #479", "a connection is asked for when another one has ended, and never made", refill),
        CatalogueBug("vapor/postgres-nio #436", "a connection ends while its ping is under way", endWhilePinging),
        CatalogueBug(
            "vapor/postgres-nio #539", "the idle timer fires when the connection has just been leased", idleTimer),
        CatalogueBug(
            "valkey-io/valkey-swift #377", "an idle timer is replaced, and what waits for the old one is dropped",
            replaceTimer),
        CatalogueBug(
            "swift-server/RediStack #86", "a pool is closed while a connection is being made, and waits for it",
            closeWhileConnecting),
    ]
}

private actor PingedPool {
    private var connections: Set<Int> = [1]
    private var isClosing = false

    func ping(isMended: Bool) async {
        if connections.isEmpty { return }
        await Task.yield()
        // It was closed meanwhile, so the ping has failed.
        if isClosing && !isMended { sayGoodbye() }
    }

    func close() async {
        if isClosing { return }
        isClosing = true
        await Task.yield()
        sayGoodbye()
    }

    private func sayGoodbye() {
        precondition(connections.remove(1) != nil, "each connection says goodbye once")  // ← vapor/postgres-nio #443
    }
}

private let pingWhileClosing: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let pool = PingedPool()
    async let ping: Void = {
        try? await Task.sleep(for: .seconds(10))
        await pool.ping(isMended: isMended)
    }()
    async let close: Void = {
        try? await Task.sleep(for: .seconds(10))
        await pool.close()
    }()
    _ = await (ping, close)
}

private actor RefilledPool {
    private var idle = 1
    private var isConnecting = false
    private var clients: [CheckedContinuation<Void, Never>] = []

    func lease() async {
        if idle > 0 {
            idle -= 1
            return
        }
        if !isConnecting { connect() }
        await withCheckedContinuation { clients.append($0) }  // ← vapor/postgres-nio #479
    }

    /// The server has closed an idle one, and there must be one at least.
    func end(isMended: Bool) {
        if idle == 0 { return }
        idle -= 1
        if isMended { connect() } else { isConnecting = true }
    }

    private func connect() {
        isConnecting = true
        Task {
            try await Task.sleep(for: .seconds(1))
            isConnecting = false
            if clients.isEmpty { idle += 1 } else { clients.removeFirst().resume() }
        }
    }
}

private let refill: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let pool = RefilledPool()
    keptByCatalogue.withLock { $0.append(pool) }
    async let client: Void = pool.lease()
    async let end: Void = pool.end(isMended: isMended)
    _ = await (client, end)
}

private actor PingingPool {
    private var isPinging: [Int: Bool] = [1: false]

    func ping(isMended: Bool) async {
        guard isPinging[1] != nil else { return }
        isPinging[1] = true
        await Task.yield()
        if isPinging[1] == nil {
            if isMended { return }
            preconditionFailure("a ping of an unknown connection has ended")  // ← vapor/postgres-nio #436
        }
        isPinging[1] = false
    }

    func end() { isPinging[1] = nil }
}

private let endWhilePinging: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let pool = PingingPool()
    async let ping: Void = pool.ping(isMended: isMended)
    async let end: Void = pool.end()
    _ = await (ping, end)
}

private actor IdlePool {
    private var isLeased = false
    private var timer: Task<Void, Never>?

    func startTimer(isMended: Bool) {
        timer = Task {
            if (try? await Task.sleep(for: .seconds(60))) == nil { return }
            closeIdle(isMended: isMended)
        }
    }

    private func closeIdle(isMended: Bool) {
        if isMended && isLeased { return }
        precondition(!isLeased, "an idle connection is closed")  // ← vapor/postgres-nio #539
    }

    func lease() async {
        timer?.cancel()
        isLeased = true
    }

    func end() async { await timer?.value }
}

private let idleTimer: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let pool = IdlePool()
    await pool.startTimer(isMended: isMended)
    try await Task.sleep(for: .seconds(60))
    await pool.lease()
    await pool.end()
}

private actor TimedPool {
    private var timer: CheckedContinuation<Void, Never>?
    private var requests = 0

    /// Until the timer is cancelled.
    func wait() async { await withCheckedContinuation { timer = $0 } }  // ← valkey-io/valkey-swift #377
    func request() { requests += 1 }

    func fire(isMended: Bool) {
        // With a request, the connection is not idle, and another timer is made.
        if requests == 0 || isMended { timer?.resume() }
        timer = nil
    }
}

private let replaceTimer: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let pool = TimedPool()
    async let timer: Void = pool.wait()
    async let request: Void = pool.request()
    try await Task.sleep(for: .seconds(60))
    await pool.fire(isMended: isMended)
    _ = await (timer, request)
}

private actor ClosingPool {
    private var connecting = 0
    private var isClosing = false
    private var closer: CheckedContinuation<Void, Never>?

    func connect(isMended: Bool) async {
        if isClosing { return }
        connecting += 1
        await Task.yield()
        if isClosing {
            // It is closed at once.
            if isMended { end() }
            return
        }
        end()
    }

    private func end() {
        connecting -= 1
        if connecting == 0 { closer?.resume() }
        if connecting == 0 { closer = nil }
    }

    func close() async {
        isClosing = true
        if connecting > 0 { await withCheckedContinuation { closer = $0 } }  // ← swift-server/RediStack #86
    }
}

private let closeWhileConnecting: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let pool = ClosingPool()
    keptByCatalogue.withLock { $0.append(pool) }
    async let first: Void = pool.connect(isMended: isMended)
    async let close: Void = pool.close()
    _ = await (first, close)
}
