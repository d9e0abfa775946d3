import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitSimulation
import Synchronization

/// Mistakes that others have made in public, each written anew as small as it gets, and a few more that need a preemption or a connection.
extension PlantedBug {
    static let more: [PlantedBug] = [
        // python/asyncio #270
        PlantedBug(name: "a semaphore wakes a waiter that is cancelled, and nobody else", program: loseWakeUp),
        // apple/swift-async-algorithms #80
        PlantedBug(name: "a cancellation comes before the wait that it should end", program: cancelEarly),
        // vapor/postgres-nio #641
        PlantedBug(name: "a timer is replaced, and its waiting task forgotten", program: replaceTimer),
        // resgateio/resgate #114
        PlantedBug(name: "a request is answered, and then times out", program: answerTwice),
        // anomalyco/openauth #2
        PlantedBug(name: "two requests refresh a token that is good for one use", program: refreshTwice),
        PlantedBug(name: "a callback comes before its number is stored", program: callBackEarly),
        PlantedBug(name: "a check and an update hold a lock one after the other", program: updateInTwoParts),
        PlantedBug(name: "two mutexes are taken in two orders", program: lockMutexes),
        PlantedBug(name: "a server sends to those who were there before its wait", program: sendToTheGone),
        PlantedBug(name: "a client takes the end of a connection for an answer", program: takeEndForAnswer),
    ]
}

private let awaited = Guarded<[any Sendable]>([])

private actor Permits {
    private var free = 1
    private var waiters: [(id: Int, waiter: UnsafeContinuation<Void, Never>)] = []
    private var lastID = 0

    /// The one that is woken takes the permit when it comes to that.
    func take(passesOn: Bool) async -> Bool {
        while free == 0 {
            await withUnsafeContinuation { waiter in
                lastID += 1
                waiters.append((lastID, waiter))
            }
            if Task.isCancelled {
                if passesOn { wakeNext() }
                return false
            }
        }
        free -= 1
        return true
    }

    func give() {
        free += 1
        wakeNext()
    }

    private func wakeNext() { if !waiters.isEmpty { waiters.removeFirst().waiter.resume() } }
}

private let loseWakeUp: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    world.allowDelays(upTo: .milliseconds(80))
    let permits = Permits()
    awaited.withLock { $0.append(permits) }
    _ = await permits.take(passesOn: isFixed)
    let first = Task(executorPreference: world.executor) {
        if await permits.take(passesOn: isFixed) { await permits.give() }
    }
    try await world.sleep(20)
    let second = Task(executorPreference: world.executor) {
        if await permits.take(passesOn: isFixed) { await permits.give() }
    }
    try await world.sleep(20)
    let canceller = Task(executorPreference: world.executor) {
        try? await world.sleep(100)
        first.cancel()
    }
    try await world.sleep(20 + 100 * world.choose(2))
    await permits.give()
    await canceller.value
    await first.value
    await second.value
}

/// A wait that a cancellation ends.
private final class Signal: Sendable {
    private struct State {
        var waiter: UnsafeContinuation<Void, Never>?
        var isCancelled = false
    }

    private let state = Guarded(State())

    func wait(remembers: Bool) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { (waiter: UnsafeContinuation<Void, Never>) in
                let isOver = state.withLock { state in
                    if state.isCancelled && remembers { return true }
                    state.waiter = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.isCancelled = true
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }
}

private let cancelEarly: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    world.allowDelays(upTo: .milliseconds(80))
    let signal = Signal()
    awaited.withLock { $0.append(signal) }
    let task = Task(executorPreference: world.executor) {
        try? await world.loop.clock.sleep(for: .milliseconds(20))
        await signal.wait(remembers: isFixed)
    }
    try await world.sleep(60)
    task.cancel()
    await task.value
}

/// An idle timer, which a task waits for; it is moved while a request is under way.
private actor IdleTimer {
    private var waiter: UnsafeContinuation<Void, Never>?
    private var isBusy = false

    func wait() async { await withUnsafeContinuation { waiter = $0 } }
    func begin() { isBusy = true }

    func fire(resumesOld: Bool) {
        if isBusy && !resumesOld {
            // Another timer is made, and the old one dropped.
            waiter = nil
        } else {
            waiter?.resume()
            waiter = nil
        }
    }
}

private let replaceTimer: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    world.allowDelays(upTo: .milliseconds(80))
    let timer = IdleTimer()
    awaited.withLock { $0.append(timer) }
    await withTaskGroup(of: Void.self) { group in
        group.addTask { await timer.wait() }
        group.addTask {
            try? await world.sleep(60)
            await timer.fire(resumesOld: isFixed)
        }
        group.addTask {
            try? await world.sleep(90 - 20 * world.choose(3))
            await timer.begin()
        }
    }
}

private let answerTwice: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    world.allowDelays(upTo: .milliseconds(40))
    let answers = Guarded<[String]>([])
    let answer: @Sendable (String) -> Void = { text in
        answers.withLock { if !isFixed || $0.isEmpty { $0.append(text) } }
    }
    let timeout = RunLoop.Timeout(on: world.loop, after: .milliseconds(100)) { answer("timed out") }
    try await world.sleep(80 + 10 * world.choose(4))
    answer("answered")
    timeout.cancel()
    try world.check(answers.withLock { $0.count } == 1, "there is one answer")
}

private actor Session {
    private var token = 1
    private var refresh: Task<Int, any Error>?
    private var used: Set<Int> = []
    private let executor: any TaskExecutor

    init(_ executor: any TaskExecutor) { self.executor = executor }

    struct UsedTwice: Error {}

    private func exchange(_ token: Int) async throws -> Int {
        await Task.yield()
        if !used.insert(token).inserted { throw UsedTwice() }
        return token + 1
    }

    func renew(shares: Bool) async throws {
        if shares, let refresh {
            _ = try await refresh.value
            return
        }
        let old = token
        let task = Task(executorPreference: executor) { try await self.exchange(old) }
        refresh = task
        token = try await task.value
        refresh = nil
    }
}

private let refreshTwice: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    world.allowDelays(upTo: .milliseconds(80))
    let session = Session(world.executor)
    try await withThrowingTaskGroup(of: Void.self) { group in
        for start in [20, 60] {
            group.addTask {
                try? await world.sleep(start)
                try await session.renew(shares: isFixed)
            }
        }
        try await group.waitForAll()
    }
}

private let callBackEarly: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    let names = Guarded<[Int: String]>([:])
    let found = Guarded<String?>("nothing yet")
    let other = try world.makeLoop("other")
    if isFixed { names.withLock { $0[1] = "one" } }
    other.perform { found.withLock { result in result = names.withLock { $0[1] } } }
    if !isFixed { names.withLock { $0[1] = "one" } }
    try await world.sleep(100)
    try world.check(found.withLock { $0 } == "one", "the callback finds its name")
}

private let updateInTwoParts: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    let number = Guarded(0)
    let changes = try world.makeLoop("changes")
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<2 {
            group.addTask {
                let seen = number.withLock { $0 }
                changes.perform {}
                number.withLock { $0 = isFixed ? $0 + 1 : seen + 1 }
            }
        }
    }
    try world.check(number.withLock { $0 } == 2, "both count")
}

private final class Pair: Sendable {
    let a = Mutex(0)
    let b = Mutex(0)
}

private let lockMutexes: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    let (pair, changes) = (Pair(), try world.makeLoop("changes"))
    await withTaskGroup(of: Void.self) { group in
        group.addTask {
            pair.a.withLock { a in
                changes.perform {}
                pair.b.withLock { $0 += a }
            }
        }
        group.addTask {
            if isFixed {
                pair.a.withLock { a in pair.b.withLock { $0 -= a } }
            } else {
                pair.b.withLock { b in
                    changes.perform {}
                    pair.a.withLock { $0 += b }
                }
            }
        }
    }
}

//===-- connections --------------------------------------------------------------------------------------------------===//

private actor Room {
    private var members: [Int: RunLoop.Connection] = [:]
    private(set) var sentToGone = 0

    func join(_ number: Int, _ connection: RunLoop.Connection) { members[number] = connection }
    func leave(_ number: Int) { members[number] = nil }

    func send(_ line: String, looksAgain: Bool) async {
        for (number, connection) in members.sorted(by: { $0.key < $1.key }) {
            if looksAgain && members[number] == nil { continue }
            if members[number] == nil { sentToGone += 1 }
            _ = try? await connection.writer.write(line)
            await Task.yield()
        }
    }
}

private let sendToTheGone: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    let room = Room()
    let links = [try world.makeStreamLink(), try world.makeStreamLink()]
    for (number, link) in links.enumerated() {
        await room.join(number, try RunLoop.Connection(adopting: link.0, on: world.loop))
    }
    await withTaskGroup(of: Void.self) { group in
        group.addTask { await room.send("hello\n", looksAgain: isFixed) }
        group.addTask {
            // In the real world, which chooses 0, everything has been sent by then.
            try? await world.sleep(10 * (1 - world.choose(2)))
            await room.leave(1)
        }
    }
    for link in links { close(link.1) }
    try world.check(await room.sentToGone == 0, "nothing is sent to those who have left")
}

private let takeEndForAnswer: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    let (near, far) = try world.makeStreamLink()
    let client = try RunLoop.Connection(adopting: near, on: world.loop)
    let dies = world.choose(2) == 1
    let server = Task(executorPreference: world.executor) {
        defer { close(far) }
        try await world.sleep(50)
        let text = dies ? "pon" : "pong\n"
        _ = send(far, text, text.utf8.count, CInt(MSG_NOSIGNAL))
        try await world.sleep(200)
    }
    var text = ""
    let reader = client.makeReader()
    while let chunk = try? await reader.chunk() {
        text += String(decoding: chunk, as: UTF8.self)
        if isFixed && text.hasSuffix("\n") { break }
    }
    let answer = isFixed && !text.hasSuffix("\n") ? nil : text
    try await server.value
    try world.check(answer == nil || answer == "pong\n", "an answer is whole")
}
