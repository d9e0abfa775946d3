import RunLoopKit
import RunLoopKitLinux
import RunLoopKitSimulation
import Testing

/// The server of Act05-Server.swift of Examples/Tour, or the same with a bug.
@MainActor protocol LineServer: Sendable {
    associatedtype Server: AnyObject & Sendable
    var server: Server { get }
    /// Takes so many clients; `whenOver` is called when the last of them has left.
    static func make(for expected: Int, whenOver: @escaping () -> Void) throws -> Self
    var port: UInt16 { get }
    var answers: Int { get }
    /// Throws if something went wrong.
    func check() throws
}

/// Two clients ask several questions at a time, in pieces that end anywhere.
private func converse<Server: LineServer>(_ server: Server.Type, in simulation: RunLoop.Simulation) async throws {
    let isOver = Guarded(false)
    let server = try await server.make(for: 2) { isOver.withLock { $0 = true } }
    try await keeping(server.server) { try await converse(server, simulation) }
    try simulation.require(isOver.withLock { $0 }, "it sees its last client leave")
}

private func converse(_ server: some LineServer, _ simulation: RunLoop.Simulation) async throws {
    let port = await server.port
    var peers: [SimulatedPeer] = []
    for number in 0..<2 {
        peers.append(try await SimulatedPeer(simulation, "client \(number)", at: .tcp(port: port)))
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, peer) in peers.enumerated() {
            group.addTask {
                peer.hear()
                let questions = (0..<6).map { "question \($0) of \(number)" }
                try await peer.write(questions.prefix(3).map { $0 + "\n" }.joined())
                try await Task.sleep(for: .milliseconds(simulation.choose(100)))
                try await peer.write(questions.dropFirst(3).map { $0 + "\n" }.joined())
                try await Task.sleep(for: .seconds(1))
                try simulation.require(
                    peer.heard == ["welcome"] + questions.map { $0.uppercased() },
                    "each question is answered once, in order: \(peer.heard)")
                await peer.finish()
                await peer.waitForEnd()
            }
        }
        try await group.waitForAll()
    }
    try await server.check()
    try simulation.require(await server.answers == 12, "it counts its answers")
}

@Suite struct LineServerTests {
    @Test("Each line is answered once and in order, however its bytes arrive")
    func tour() async throws {
        try await simulate(seeds: serverSeeds) { try await converse(ShippedLineServer.self, in: $0) }
    }

    @Test("That lines which come together are lost, would be found", .exceptWithThreadSanitizer)
    func planted() async throws {
        try await expectToFind("each question is answered once, in order") {
            try await converse(PlantedLineServer.self, in: $0)
        }
    }
}
