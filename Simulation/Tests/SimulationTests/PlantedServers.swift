import RunLoopKit
import RunLoopKitLinux

@testable import PlantedChat
@testable import PlantedScaleOut
@testable import PlantedTour

// Those of Simulation/Tests/PlantedServers.

typealias PlantedChatServer = PlantedChat.Server

extension PlantedChat.Server: ChatServer {
    static func make(
        at address: RunLoop.Listener.Address, _ note: @escaping @Sendable (String) -> Void
    ) throws -> Self {
        try Self(PlantedChat.Options(["--idle", "60"]), at: address, log: PlantedChat.Log(print: note, complain: note))
    }
}

typealias PlantedWorker = PlantedScaleOut.Worker

extension PlantedScaleOut.Worker: ScaleOutWorker {
    static func begin(on loops: [RunLoop], at addresses: [RunLoop.Listener.Address]) async throws -> [PlantedWorker] {
        let workers = loops.enumerated().map { PlantedWorker($0, on: $1, slack: 0) }
        let peers = try workers.map { try $0.makePeer() }
        for (worker, address) in zip(workers, addresses) { try await worker.begin(at: address, peers) }
        return workers
    }

    nonisolated var tally: Tally {
        Tally(
            accepted: counters.accepted.now, handedOver: counters.handedOver.now, taken: counters.taken.now,
            open: counters.open.now, busy: counters.busy.now, requests: counters.requests.now)
    }
}

@MainActor struct PlantedLineServer: LineServer {
    let server: PlantedTour.Server
    private let stage: PlantedTour.Stage

    static func make(for expected: Int, whenOver: @escaping () -> Void) throws -> Self {
        let stage = PlantedTour.Stage(tells: false)
        let countdown = PlantedTour.Countdown(from: 1, whenOver: whenOver)
        return Self(server: try PlantedTour.Server(for: expected, stage, countdown), stage: stage)
    }

    var port: UInt16 { server.port }
    var answers: Int { server.answers }
    func check() throws { try stage.close() }
}
