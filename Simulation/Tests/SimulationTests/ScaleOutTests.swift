import RunLoopKit
import RunLoopKitLinux
import RunLoopKitSimulation
import Testing

/// A loop of the server of Examples/ScaleOut, or of the same with a bug.
protocol ScaleOutWorker: Actor {
    /// Of all loops, each with an address of its own, since the kernel's choice between sockets of one port does not follow a seed.
    static func begin(on loops: [RunLoop], at addresses: [RunLoop.Listener.Address]) async throws -> [Self]
    func beginEnd(within limit: Duration) throws
    func finishEnd() async
    nonisolated var tally: Tally { get }
}

struct Tally {
    var (accepted, handedOver, taken, open, busy, requests) = (0, 0, 0, 0, 0, 0)
}

/// A client, and when it began which request.
private final class Visitor: Sendable {
    private struct Request {
        let path: String
        let began: ContinuousClock.Instant
        /// When all of it was sent.
        var sent: ContinuousClock.Instant?
    }

    let peer: SimulatedPeer
    private let requests = Guarded<[Request]>([])

    init(_ simulation: RunLoop.Simulation, _ number: Int, at address: RunLoop.Listener.Address) async throws {
        peer = try await SimulatedPeer(simulation, "visitor \(number)", at: address)
        peer.hear()
    }

    /// Asks up to three times, with pauses in the requests and between them, until the server ends.
    func ask(_ simulation: RunLoop.Simulation) async {
        for number in 0..<(1 + simulation.choose(3)) {
            let (path, isLast) = (["/", "/nothing"][number % 2], simulation.choose(4) == 1)
            do {
                try await peer.write("GET \(path) HTTP/1.1\r\n")
                requests.withLock { $0.append(Request(path: path, began: .now)) }
                try await pause(simulation)
                try await peer.write(isLast ? "Connection: close\r\n\r\n" : "\r\n")
                requests.withLock { $0[$0.count - 1].sent = .now }
                try await pause(simulation)
            } catch {
                return
            }
            if isLast { return }
        }
    }

    private func pause(_ simulation: RunLoop.Simulation) async throws {
        try await Task.sleep(for: .milliseconds([0, 10, 500, 2000][simulation.choose(4)]))
    }

    /// Each request that has begun before the end has its answer, no other one, and the connection has ended in time.
    func check(_ end: ContinuousClock.Instant, isReset: Bool, _ simulation: RunLoop.Simulation) throws -> Int {
        let (requests, heard) = (requests.withLock { $0 }, peer.heard)
        let statuses = heard.filter { $0.hasPrefix("HTTP/1.1 ") }
        let expected = requests.map { $0.path == "/" ? "HTTP/1.1 200 OK" : "HTTP/1.1 404 Not Found" }
        try simulation.require(
            isReset || expected.starts(with: statuses), "answers are to what was asked, in order: \(heard)")
        let due = requests.prefix { $0.sent != nil && $0.began + .milliseconds(100) < end }.count
        try simulation.require(
            isReset || statuses.count >= due, "what has begun is answered: \(due) of \(requests.count), \(heard)")
        guard let ended = peer.ended else { return statuses.count }
        let isIdle = requests.allSatisfy { $0.sent.map { $0 + .milliseconds(100) < end } ?? false }
        let limit = end + (isIdle ? .milliseconds(100) : .seconds(5))
        try simulation.require(isReset || ended <= limit, "the connection ends in time, not at \(ended - end)")
        return statuses.count
    }
}

/// Eight clients of three loops come, most of them to the first one; in the middle of that the server is ended.
private func serve<Worker: ScaleOutWorker>(
    _ type: Worker.Type, faults: RunLoop.Simulation.Faults = [], in simulation: RunLoop.Simulation
) async throws {
    let loops = try (0..<3).map { try simulation.makeLoop("\($0)") }
    let addresses = loops.map { _ in RunLoop.Listener.Address.unused() }
    let workers = try await type.begin(on: loops, at: addresses)
    simulation.faults = faults
    let visitors = Guarded<[Visitor]>([])
    try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<8 {
            group.addTask {
                try await Task.sleep(for: .milliseconds(simulation.choose(4) * 500))
                let address = addresses[number < 6 ? 0 : number - 5]
                guard let visitor = try? await Visitor(simulation, number, at: address) else { return }
                visitors.withLock { $0.append(visitor) }
                await visitor.ask(simulation)
                await visitor.peer.waitForEnd()
            }
        }
        try await Task.sleep(for: .milliseconds(500 * (1 + simulation.choose(6))))
        let end = ContinuousClock.now
        simulation.note("the server is ended")
        for worker in workers { try await worker.beginEnd(within: .seconds(5)) }
        for worker in workers { await worker.finishEnd() }
        try await group.waitForAll()
        try check(workers.map(\.tally), visitors.withLock { $0 }, end, faults, simulation)
    }
}

private func check(
    _ tallies: [Tally], _ visitors: [Visitor], _ end: ContinuousClock.Instant, _ faults: RunLoop.Simulation.Faults,
    _ simulation: RunLoop.Simulation
) throws {
    let isReset = !faults.isDisjoint(with: [.resets, .descriptorsRunOut])
    let answers = try visitors.map { try $0.check(end, isReset: isReset, simulation) }.reduce(0, +)
    try simulation.require(tallies.allSatisfy { $0.open == 0 && $0.busy == 0 }, "nothing is left: \(tallies)")
    let requests = tallies.map(\.requests).reduce(0, +)
    // One that arrives while its connection is ended for being idle may be read, and find nobody to answer.
    try simulation.require(answers <= requests, "\(answers) answers, \(requests) requests")
    let (sent, taken) = (tallies.map(\.handedOver).reduce(0, +), tallies.map(\.taken).reduce(0, +))
    try simulation.require(taken <= sent, "\(sent) connections are handed over, \(taken) taken")
    if sent > 0 { handOvers.withLock { $0 += taken } }
}

private let handOvers = Guarded(0)

@Suite struct ScaleOutTests {
    @Test(
        "Each request that has begun is answered once, also at the end, and nothing is left, whatever the kernel does",
        arguments: [[], .shortTransfers, [.shortTransfers, .resets], .descriptorsRunOut] as [RunLoop.Simulation.Faults])
    func scaleOut(faults: RunLoop.Simulation.Faults) async throws {
        try await simulate(seeds: serverSeeds) { try await serve(ShippedWorker.self, faults: faults, in: $0) }
        #expect(handOvers.withLock { $0 } > serverSeeds / 2)
    }

    @Test("That a request counts as begun when all of it is there, would be found", .exceptWithThreadSanitizer)
    func planted() async throws {
        try await expectToFind("what has begun is answered") { try await serve(PlantedWorker.self, in: $0) }
    }
}
