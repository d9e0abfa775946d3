import RunLoopKit
import RunLoopKitSimulation
import Synchronization

extension CatalogueBug {
    static let clients: [CatalogueBug] = [
        CatalogueBug(
            "connectrpc/connect-swift #333", "an answer and a time-out both resume the request", answerAndTimeOut),
        CatalogueBug(
            "modelcontextprotocol/swift-sdk #113",
            "a send fails after the end of the connection has resumed its request", failAfterEnd),
        CatalogueBug(
            "swift-server/async-http-client #612", "bytes come after the request was cancelled", bytesAfterCancel),
        CatalogueBug(
            "swift-server/async-http-client #576", "the body is to go on after the request has failed",
            resumeAfterFailure),
        CatalogueBug(
            "swift-server/async-http-client #555", "a request is cancelled on its way from the queue to a connection",
            cancelInQueue),
        CatalogueBug(
            "swift-server/async-http-client #664", "a request that has failed does not know it, and fails again",
            failTwice),
    ]
}

private final class Answer: Sendable {
    private let waiter: Mutex<CheckedContinuation<Void, Never>?>
    init(_ waiter: CheckedContinuation<Void, Never>) { self.waiter = Mutex(waiter) }

    func give(isMended: Bool) {
        let waiter = waiter.withLock { waiter in
            defer { if isMended { waiter = nil } }
            return waiter
        }
        waiter?.resume()  // ← connectrpc/connect-swift #333
    }
}

private let answerAndTimeOut: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let server = Int.random(in: 4..<7)
    await withCheckedContinuation { waiter in
        let answer = Answer(waiter)
        let timeOut = Task {
            try await Task.sleep(for: .seconds(5))
            answer.give(isMended: isMended)
        }
        Task {
            try await Task.sleep(for: .seconds(server))
            timeOut.cancel()
            answer.give(isMended: isMended)
        }
    }
    try await Task.sleep(for: .seconds(10))
}

private actor ModelClient {
    struct Disconnected: Error {}
    private var pending: [Int: CheckedContinuation<Int, any Error>] = [:]

    func request(_ number: Int, isMended: Bool) async throws -> Int {
        try await withCheckedThrowingContinuation { waiter in
            pending[number] = waiter
            Task {
                // The connection is gone, so this fails.
                await Task.yield()
                if isMended {
                    pending.removeValue(forKey: number)?.resume(throwing: Disconnected())
                } else {
                    waiter.resume(throwing: Disconnected())  // ← modelcontextprotocol/swift-sdk #113
                    pending[number] = nil
                }
            }
        }
    }

    func disconnect() {
        for waiter in pending.values { waiter.resume(throwing: Disconnected()) }
        pending = [:]
    }
}

private let failAfterEnd: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let client = ModelClient()
    let request = Task { try await client.request(1, isMended: isMended) }
    await client.disconnect()
    _ = await request.result
}

private actor Transaction {
    private var isFinished = false
    private(set) var count = 0

    func receive(_ bytes: Int, isMended: Bool) {
        if isFinished {
            if isMended { return }
            fatalError("bytes after the end of a request")  // ← swift-server/async-http-client #612
        }
        count += bytes
    }

    func cancel() { isFinished = true }
}

private let bytesAfterCancel: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let transaction = Transaction()
    async let connection: Void = {
        for _ in 0..<3 { await transaction.receive(400_000, isMended: isMended) }
    }()
    while await transaction.count < 1_000_000 {
        await Task.yield()
        // There must not be so many.
        if await transaction.count > 500_000 {
            await transaction.cancel()
            break
        }
    }
    await connection
}

private final class Request: Sendable {
    enum State { case waiting, paused, failed }
    private let state = Mutex(State.paused)

    func resume(isMended: Bool) {
        let state = state.withLock { $0 }
        if isMended && state == .failed { return }
        precondition(state == .paused, "only a body that was paused goes on")  // ← swift-server/async-http-client #576
    }

    func fail() { state.withLock { $0 = .failed } }
}

private let resumeAfterFailure: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { simulation, isMended in
    let request = Request()
    let connection = try simulation.makeLoop("connection")
    connection.perform { request.resume(isMended: isMended) }
    request.fail()
    try await Task.sleep(for: .seconds(1))
}

private actor Scheduler {
    enum State { case queued, running, cancelled }
    private var state = State.queued

    func run(isMended: Bool) async {
        if state == .cancelled { return }
        // To the thread of the connection.
        await Task.yield()
        if isMended && state == .cancelled { return }
        precondition(state == .queued, "only a request in the queue is begun")  // ← swift-server/async-http-client #555
        state = .running
    }

    func cancel() { if state == .queued { state = .cancelled } }
}

private let cancelInQueue: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let scheduler = Scheduler()
    async let run: Void = scheduler.run(isMended: isMended)
    async let cancel: Void = scheduler.cancel()
    _ = await (run, cancel)
}

private actor FailingRequest {
    struct Failed: Error {}
    private var head: CheckedContinuation<Int, any Error>?
    private var hasFailed = false

    func execute() async throws -> Int {
        if hasFailed { throw Failed() }
        return try await withCheckedThrowingContinuation { head = $0 }
    }

    func fail(isMended: Bool) {
        hasFailed = true
        head?.resume(throwing: Failed())  // ← swift-server/async-http-client #664
        if isMended { head = nil }
    }
}

private let failTwice: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let request = FailingRequest()
    let execution = Task { try await request.execute() }
    async let timeOut: Void = request.fail(isMended: isMended)
    async let end: Void = request.fail(isMended: isMended)
    _ = await (timeOut, end, execution.result)
}
