import Glibc
import RunLoopKit
import RunLoopKitSimulation

/// A program with a bug that depends on what comes first, and the same without it. What must meet for it to show is tens of milliseconds
/// apart, or needs a fault of the system, so that the real world hardly shows it.
struct PlantedBug: Sendable, CustomStringConvertible {
    let name: String
    let program: @Sendable (_ world: any World, _ isFixed: Bool) async throws -> Void
    var description: String { name }

    static let all: [PlantedBug] = [
        PlantedBug(name: "a check is stale after an await", program: overdraw),
        PlantedBug(name: "two callers load the same thing", program: loadTwice),
        PlantedBug(name: "a notification before the wait is lost", program: loseNotification),
        PlantedBug(name: "two locks are taken in two orders", program: lockInTwoOrders),
        PlantedBug(name: "an answer comes after its timeout", program: answerAfterTimeout),
        PlantedBug(name: "a cancelled task cleans up too late", program: cleanUpLate),
        PlantedBug(name: "a stop forgets what was accepted", program: stopEarly),
        PlantedBug(name: "two loops update one number", program: updateFromTwoLoops),
        PlantedBug(name: "an old answer replaces a new one", program: showOldAnswer),
        PlantedBug(name: "a repeated request is done twice", program: repeatRequest),
        PlantedBug(name: "a read is taken for a whole message", program: readShort),
    ]
}

/// What a task waits for for ever is kept, and the task with it: a search for leaks shall find none.
private let awaited = Guarded<[any Actor]>([])

//===-- tasks and actors ---------------------------------------------------------------------------------------------===//

private actor Account {
    private(set) var balance = 100

    func withdraw(_ amount: Int, rechecks: Bool) async {
        guard balance >= amount else { return }
        await Task.yield()
        if rechecks && balance < amount { return }
        balance -= amount
    }
}

private let overdraw: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    world.allowDelays(upTo: .milliseconds(80))
    let account = Account()
    await withTaskGroup(of: Void.self) { group in
        for start in [20, 60] {
            group.addTask {
                try? await world.sleep(start)
                await account.withdraw(60, rechecks: isFixed)
            }
        }
    }
    try world.check(await account.balance >= 0, "the account is not overdrawn")
}

private actor Cache {
    private(set) var loads = 0
    private var value: Int?
    private var loading: Task<Int, Never>?
    private let executor: any TaskExecutor

    init(_ executor: any TaskExecutor) {
        self.executor = executor
    }

    func get(sharesLoads: Bool) async -> Int {
        if let value { return value }
        if sharesLoads, let loading { return await loading.value }
        let task = Task(executorPreference: executor) { await self.load() }
        loading = task
        let loaded = await task.value
        value = loaded
        return loaded
    }

    private func load() async -> Int {
        loads += 1
        await Task.yield()
        return 42
    }
}

private let loadTwice: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    world.allowDelays(upTo: .milliseconds(80))
    let cache = Cache(world.executor)
    await withTaskGroup(of: Void.self) { group in
        for start in [20, 60] {
            group.addTask {
                try? await world.sleep(start)
                _ = await cache.get(sharesLoads: isFixed)
            }
        }
    }
    try world.check(await cache.loads == 1, "it is loaded once")
}

private actor Mailbox {
    private var isFull = false
    private var waiter: UnsafeContinuation<Void, Never>?

    func put(remembers: Bool) {
        if remembers { isFull = true }
        waiter?.resume()
        waiter = nil
    }

    func wait() async {
        if isFull { return }
        await withUnsafeContinuation { waiter = $0 }
    }
}

private let loseNotification: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    world.allowDelays(upTo: .milliseconds(80))
    let mailbox = Mailbox()
    awaited.withLock { $0.append(mailbox) }
    await withTaskGroup(of: Void.self) { group in
        group.addTask {
            try? await world.sleep(20)
            await mailbox.wait()
        }
        group.addTask {
            try? await world.sleep(60)
            await mailbox.put(remembers: isFixed)
        }
    }
}

private actor AsyncLock {
    private var isTaken = false
    private var waiters: [UnsafeContinuation<Void, Never>] = []

    func take() async {
        if isTaken { await withUnsafeContinuation { waiters.append($0) } }
        isTaken = true
    }

    func give() {
        if waiters.isEmpty { isTaken = false } else { waiters.removeFirst().resume() }
    }
}

private let lockInTwoOrders: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    world.allowDelays(upTo: .milliseconds(80))
    let a = AsyncLock()
    let b = AsyncLock()
    awaited.withLock { $0 += [a, b] }
    await withTaskGroup(of: Void.self) { group in
        for (start, locks) in [(20, [a, b]), (60, isFixed ? [a, b] : [b, a])] {
            group.addTask {
                try? await world.sleep(start)
                for lock in locks { await lock.take() }
                await Task.yield()
                for lock in locks.reversed() { await lock.give() }
            }
        }
    }
}

private actor Order {
    private(set) var isPaid = false
    private(set) var isCancelled = false

    func pay(checks: Bool) { if !checks || !isCancelled { isPaid = true } }
    func cancel() { if !isPaid { isCancelled = true } }
}

private let answerAfterTimeout: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    world.allowDelays(upTo: .milliseconds(40))
    let order = Order()
    await withTaskGroup(of: Void.self) { group in
        group.addTask {
            try? await world.sleep(80 + 10 * world.choose(4))
            await order.pay(checks: isFixed)
        }
        group.addTask {
            try? await world.sleep(100)
            await order.cancel()
        }
    }
    let (isPaid, isCancelled) = (await order.isPaid, await order.isCancelled)
    try world.check(isPaid != isCancelled, "the order is either paid or cancelled")
}

private actor Directory {
    private(set) var files: Set<String> = []
    func create(_ name: String) { files.insert(name) }
    func remove(_ name: String) { files.remove(name) }
}

private let cleanUpLate: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    let directory = Directory()
    @Sendable func job() -> Task<Void, Never> {
        Task(executorPreference: world.executor) {
            await directory.create("lock")
            try? await world.sleep(100)
            await directory.remove("lock")
        }
    }
    let first = job()
    try await world.sleep(50)
    first.cancel()
    if isFixed { await first.value }
    let second = job()
    await Task.yield()
    try await world.sleep(50)
    try world.check(await directory.files == ["lock"], "the second job has its file")
    await second.value
    await first.value
}

private actor Writer {
    private var accepted: [Int] = []
    private(set) var written: [Int] = []
    private(set) var isStopped = false

    func write(_ line: Int) -> Bool {
        if isStopped { return false }
        accepted.append(line)
        return true
    }

    func flush() {
        written += accepted
        accepted = []
    }

    func stop(flushes: Bool) {
        isStopped = true
        if flushes { flush() }
    }
}

private let stopEarly: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    world.allowDelays(upTo: .milliseconds(80))
    let writer = Writer()
    async let flusher: Void = {
        for _ in 0..<3 {
            try? await world.sleep(40)
            await writer.flush()
        }
    }()
    var accepted: [Int] = []
    for line in 0..<3 {
        try await world.sleep(20)
        if await writer.write(line) { accepted.append(line) }
    }
    await flusher
    await writer.stop(flushes: isFixed)
    try world.check(await writer.written == accepted, "what was accepted is written")
}

//===-- loops and links ----------------------------------------------------------------------------------------------===//

private let updateFromTwoLoops: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    world.allowDelays(upTo: .milliseconds(80))
    let number = Guarded(0)
    let updates = Guarded(0)
    let loops = [try world.makeLoop("a"), try world.makeLoop("b")]
    let main = world.loop
    for (start, loop) in zip([20, 80], loops) {
        main.perform(after: .milliseconds(start)) {
            let seen = number.withLock { $0 }
            loop.perform(after: .milliseconds(5)) {
                let more = seen + 1
                main.perform {
                    number.withLock { $0 = isFixed ? $0 + 1 : more }
                    updates.withLock { $0 += 1 }
                }
            }
        }
    }
    while updates.withLock({ $0 }) < 2 { try await world.sleep(20) }
    try world.check(number.withLock { $0 } == 2, "both updates count")
}

/// Sends requests and answers of two bytes: a number, and what it is about.
private func send(_ bytes: [UInt8], to descriptor: CInt) {
    _ = Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL))
}

private func receive(from descriptor: CInt, _ capacity: Int = 16) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: capacity)
    let count = recv(descriptor, &buffer, capacity, 0)
    return count > 0 ? Array(buffer[..<count]) : nil
}

private let showOldAnswer: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    let (client, server) = try world.makeMessageLink(lossPercentage: 0, reorders: true)
    defer { world.end((client, server)) }
    let shown = Guarded<(UInt8, UInt8)>((0, 0))
    let answering = try RunLoop.Source(fileDescriptor: server) { _ in
        while let request = receive(from: server) { send(request, to: server) }
    }
    let showing = try RunLoop.Source(fileDescriptor: client) { _ in
        while let answer = receive(from: client) {
            shown.withLock { if !isFixed || answer[0] > $0.0 { $0 = (answer[0], answer[1]) } }
        }
    }
    try world.loop.add(answering, forMode: .common)
    try world.loop.add(showing, forMode: .common)
    for (number, letter) in "abc".utf8.enumerated() { send([UInt8(number + 1), letter], to: client) }
    try await world.sleep(100)
    answering.invalidate()
    showing.invalidate()
    try world.check(shown.withLock { $0.1 } == UInt8(ascii: "c"), "the newest answer is shown")
}

private let repeatRequest: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    let (client, server) = try world.makeMessageLink(lossPercentage: 20, reorders: false)
    defer { world.end((client, server)) }
    let done = Guarded<(count: Int, numbers: Set<UInt8>)>((0, []))
    let isAnswered = Guarded(false)
    let serving = try RunLoop.Source(fileDescriptor: server) { _ in
        while let request = receive(from: server) {
            done.withLock { done in
                if !isFixed || done.numbers.insert(request[0]).inserted { done.count += 1 }
            }
            send(request, to: server)
        }
    }
    let asking = try RunLoop.Source(fileDescriptor: client) { _ in
        while receive(from: client) != nil { isAnswered.withLock { $0 = true } }
    }
    try world.loop.add(serving, forMode: .common)
    try world.loop.add(asking, forMode: .common)
    for _ in 0..<200 where !isAnswered.withLock({ $0 }) {
        send([1], to: client)
        try await world.sleep(100)
    }
    serving.invalidate()
    asking.invalidate()
    try world.check(done.withLock { $0.count } == 1, "the request is done once")
}

private let readShort: @Sendable (any World, Bool) async throws -> Void = { world, isFixed in
    let (client, server) = try world.makeStreamLink()
    defer { world.end((client, server)) }
    let (text, messages) = (Guarded<[UInt8]>([]), Guarded<[[UInt8]]>([]))
    let reading = try RunLoop.Source(fileDescriptor: server) { _ in
        while let bytes = receive(from: server, 4) {
            let whole = text.withLock { text -> [UInt8]? in
                text += bytes
                if isFixed && text.count < 4 { return nil }
                defer { text.removeFirst(min(4, text.count)) }
                return Array(text.prefix(4))
            }
            if let whole { messages.withLock { $0.append(whole) } }
        }
    }
    try world.loop.add(reading, forMode: .common)
    for _ in 0..<2 { send(Array("ping".utf8), to: client) }
    try await world.sleep(100)
    reading.invalidate()
    try world.check(
        messages.withLock { $0 } == [Array("ping".utf8), Array("ping".utf8)], "two messages arrive")
}
