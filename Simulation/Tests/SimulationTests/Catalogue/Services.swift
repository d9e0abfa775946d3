import RunLoopKit
import RunLoopKitSimulation

extension CatalogueBug {
    static let services: [CatalogueBug] = [
        CatalogueBug(
            "swift-server/swift-service-lifecycle #171",
            "a service that ends out of order is taken for the one that is shut down",
            shutDownInOrder),
        CatalogueBug(
            "swift-server/swift-service-lifecycle #248",
            "a shutdown before the start is an end without the cleaning up", shutDownEarly),
        CatalogueBug(
            "hummingbird-project/hummingbird #721", "a shutdown comes during a request, and its end closes nothing",
            shutDownBusy),
    ]
}

private actor Services {
    private(set) var hasEnded: Set<Int> = []
    private(set) var inOrder = true
    private var stopper: CheckedContinuation<Void, Never>?
    private let ends = AsyncStream<Int>.makeStream()

    func end(_ service: Int) {
        hasEnded.insert(service)
        ends.continuation.yield(service)
    }

    /// The last one first, each when the one before has ended.
    func shutDown(isMended: Bool) async {
        var iterator = ends.stream.makeAsyncIterator()
        Task {
            try await Task.sleep(for: .seconds(10))
            end(2)
        }
        while let ended = await iterator.next(isolation: self) {
            if ended == 2 || !isMended { break }
        }
        // Now it is the turn of the one before.
        inOrder = hasEnded.contains(2)
    }
}

private let shutDownInOrder: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { simulation, isMended in
    let services = Services()
    async let other: Void = {
        try? await Task.sleep(for: .seconds(Int.random(in: 0..<20)))
        await services.end(1)
    }()
    await services.shutDown(isMended: isMended)
    let isOrdered = await services.inOrder
    try simulation.require(isOrdered, "services end in order")  // ← swift-server/swift-service-lifecycle #171
    await other
}

private actor ServiceGroup {
    private enum State { case initial, running, stopping, finished }
    private struct AlreadyFinished: Error {}

    private var state = State.initial
    private var stopper: CheckedContinuation<Void, Never>?
    private(set) var hasCleanedUp = false

    func run() async throws {
        if state == .finished { throw AlreadyFinished() }  // ← swift-server/swift-service-lifecycle #248
        if state == .initial {
            state = .running
            await withCheckedContinuation { stopper = $0 }
        }
        hasCleanedUp = true
    }

    func shutDown(isMended: Bool) {
        if state == .initial { state = isMended ? .stopping : .finished }
        stopper?.resume()
        stopper = nil
    }
}

private let shutDownEarly: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { simulation, isMended in
    let group = ServiceGroup()
    let running = Task { try await group.run() }
    await group.shutDown(isMended: isMended)
    _ = await running.result
    try simulation.require(await group.hasCleanedUp, "services clean up")
}

private actor BusyServer {
    private var requests = 0
    private var isStopping = false
    private var closed: CheckedContinuation<Void, Never>?

    func serve(isMended: Bool) async {
        if isStopping { return }
        requests += 1
        await Task.yield()
        requests -= 1
        if isMended && isStopping && requests == 0 { closed?.resume() }
    }

    func shutDown() async {
        isStopping = true
        if requests > 0 { await withCheckedContinuation { closed = $0 } }  // ← hummingbird-project/hummingbird #721
    }
}

private let shutDownBusy: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let server = BusyServer()
    keptByCatalogue.withLock { $0.append(server) }
    async let request: Void = server.serve(isMended: isMended)
    async let shutdown: Void = server.shutDown()
    _ = await (request, shutdown)
}
