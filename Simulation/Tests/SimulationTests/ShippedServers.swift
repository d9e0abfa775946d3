import RunLoopKit
import RunLoopKitLinux

@testable import chat
@testable import scale_out
@testable import tour

// Those of Examples.

typealias ShippedChat = chat.Server

extension chat.Server: ChatServer {
    static func make(
        at address: RunLoop.Listener.Address, _ note: @escaping @Sendable (String) -> Void
    ) throws -> Self {
        try Self(chat.Options(["--idle", "60"]), at: address, log: chat.Log(print: note, complain: note))
    }
}

typealias ShippedWorker = scale_out.Worker

extension scale_out.Worker: ScaleOutWorker {
    static func begin(on loops: [RunLoop], at addresses: [RunLoop.Listener.Address]) async throws -> [ShippedWorker] {
        let workers = loops.enumerated().map { ShippedWorker($0, on: $1, slack: 0) }
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

@MainActor struct ShippedLineServer: LineServer {
    let server: tour.Server
    private let stage: tour.Stage

    static func make(for expected: Int, whenOver: @escaping () -> Void) throws -> Self {
        let stage = tour.Stage(tells: false)
        let countdown = tour.Countdown(from: 1, whenOver: whenOver)
        return Self(server: try tour.Server(for: expected, stage, countdown), stage: stage)
    }

    var port: UInt16 { server.port }
    var answers: Int { server.answers }
    func check() throws { try stage.close() }
}
