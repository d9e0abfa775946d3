import RunLoopKit
import RunLoopKitSimulation
import Synchronization

extension CatalogueBug {
    static let sequences: [CatalogueBug] = [
        CatalogueBug(
            "apple/swift-async-algorithms #80", "a cancellation comes before the wait that it should end", cancelEarly),
        CatalogueBug(
            "apple/swift-async-algorithms #131", "a sender that is cancelled waits for a receiver", cancelSender),
        CatalogueBug(
            "apple/swift-async-algorithms #303", "a continuation is resumed under a lock that its cancellation wants",
            resumeUnderLock),
        CatalogueBug("apple/swift-async-algorithms #448", "a reader that is cancelled asks again and again", spin),
        CatalogueBug(
            "apple/swift-async-algorithms #450", "an error comes while nobody asks, and is dropped", dropError),
        CatalogueBug(
            "grpc/grpc-swift-nio-transport #181", "what is awaited comes between the look at it and the wait",
            waitTooLate),
    ]
}

/// A wait that a cancellation ends.
private final class Side: Sendable {
    private struct State {
        var waiter: CheckedContinuation<Void, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())

    func wait(isMended: Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in  // ← apple/swift-async-algorithms #80
                let isOver = state.withLock { state in
                    if state.isCancelled && isMended { return true }
                    state.waiter = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.isCancelled = true
                return state.waiter.take()
            }
            waiter?.resume()
        }
    }
}

private let cancelEarly: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let side = Side()
    keptByCatalogue.withLock { $0.append(side) }
    let task = Task { await side.wait(isMended: isMended) }
    await Task.yield()
    task.cancel()
    await task.value
}

private actor Channel {
    private var sender: CheckedContinuation<Void, Never>?
    private var isClosed = false

    func send(isMended: Bool) async {
        await withTaskCancellationHandler {
            if isClosed || Task.isCancelled && isMended { return }
            await withCheckedContinuation { sender = $0 }  // ← apple/swift-async-algorithms #131
        } onCancel: {
            if isMended { Task { await receive() } }
        }
    }

    func receive() {
        isClosed = true
        sender?.resume()
        sender = nil
    }
}

private let cancelSender: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let channel = Channel()
    keptByCatalogue.withLock { $0.append(channel) }
    let sender = Task { await channel.send(isMended: isMended) }
    let receiver = Task { if !Task.isCancelled { await channel.receive() } }
    await Task.yield()
    // The group of both is.
    sender.cancel()
    receiver.cancel()
    await sender.value
}

/// Of a task, which the runtime takes to cancel it and to resume it; and of a state.
private struct Locks: Sendable {
    let ofTask = Waits()
    let ofState = Waits()

    func resume(isMended: Bool) {
        ofState.lock()
        if isMended { ofState.unlock() }
        ofTask.lock()  // ← apple/swift-async-algorithms #303
        ofTask.unlock()
        if !isMended { ofState.unlock() }
    }

    func cancel() {
        ofTask.lock()
        ofState.lock()
        ofState.unlock()
        ofTask.unlock()
    }
}

private let resumeUnderLock: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let locks = Locks()
    async let resume: Void = locks.resume(isMended: isMended)
    async let cancel: Void = locks.cancel()
    _ = await (resume, cancel)
}

private actor Reader {
    private var isFinished = false
    func finish() { isFinished = true }

    /// `nil` if there is nothing yet.
    func next(isMended: Bool) async throws -> Int? {
        if isFinished { return 0 }
        if isMended { try Task.checkCancellation() }
        try? await Task.sleep(for: .seconds(1))  // ← apple/swift-async-algorithms #448
        return nil
    }
}

private let spin: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { simulation, isMended in
    simulation.mostSteps = 5000
    let reader = Reader()
    let reading = Task {
        while try await reader.next(isMended: isMended) == nil {}
    }
    let writing = Task { if !Task.isCancelled { await reader.finish() } }
    await Task.yield()
    reading.cancel()
    writing.cancel()
    _ = await reading.result
}

private actor Debounce {
    struct Failed: Error {}
    private var result: Result<Int?, any Error>?
    private var demand: CheckedContinuation<Int?, any Error>?

    func fail(isMended: Bool) {
        if let demand = demand.take() { return demand.resume(throwing: Failed()) }
        result = isMended ? .failure(Failed()) : .success(nil)
    }

    func next() async throws -> Int? {
        if let result { return try result.get() }
        return try await withCheckedThrowingContinuation { demand = $0 }
    }
}

private let dropError: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { simulation, isMended in
    let sequence = Debounce()
    let consumer = Task { try await sequence.next() }
    await sequence.fail(isMended: isMended)
    let result = await consumer.result
    let isThrown = (try? result.get()) == nil && result.isFailure
    try simulation.require(isThrown, "the error comes")  // ← apple/swift-async-algorithms #450
}

extension Result {
    fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}

private final class Transport: Sendable {
    private struct State {
        var isReady = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func becomeReady() {
        let waiters = state.withLock { state in
            state.isReady = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func waitUntilReady(isMended: Bool) async {
        if state.withLock({ $0.isReady }) { return }
        await withCheckedContinuation { waiter in  // ← grpc/grpc-swift-nio-transport #181
            let isReady = state.withLock { state in
                if state.isReady && isMended { return true }
                state.waiters.append(waiter)
                return false
            }
            if isReady { waiter.resume() }
        }
    }
}

private let waitTooLate: @Sendable (RunLoop.Simulation, Bool) async throws -> Void = { _, isMended in
    let transport = Transport()
    keptByCatalogue.withLock { $0.append(transport) }
    async let client: Void = transport.waitUntilReady(isMended: isMended)
    async let ready: Void = transport.becomeReady()
    _ = await (client, ready)
}
