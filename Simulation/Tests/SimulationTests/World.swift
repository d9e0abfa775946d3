import Glibc
import RunLoopKit
import RunLoopKitSimulation

/// Where a planted bug runs: in a simulation, or in the real world, on real loops, by the machine's clock and without faults.
protocol World: Sendable {
    var loop: RunLoop { get }
    var executor: any TaskExecutor { get }
    func makeLoop(_ name: String) throws -> RunLoop
    func makeMessageLink(lossPercentage: Int, reorders: Bool) throws -> (CInt, CInt)
    func makeStreamLink() throws -> (CInt, CInt)
    /// Sleeps may end later than asked by so much.
    func allowDelays(upTo greatest: Duration)
    func choose(_ count: Int) -> Int
    func check(_ condition: Bool, _ what: String) throws
}

extension World {
    func end(_ link: (CInt, CInt)) {
        close(link.0)
        close(link.1)
    }

    func sleep(_ milliseconds: Int) async throws { try await loop.clock.sleep(for: .milliseconds(milliseconds)) }
}

extension RunLoop.Simulation: World {
    func allowDelays(upTo greatest: Duration) { greatestDelay = greatest }
    func makeMessageLink(lossPercentage: Int, reorders: Bool) throws -> (CInt, CInt) {
        try makeMessageLink(delay: .zero ... .milliseconds(20), lossPercentage: lossPercentage, reorders: reorders)
    }
    func makeStreamLink() throws -> (CInt, CInt) {
        try makeStreamLink(delay: .zero ... .milliseconds(20))
    }
    func check(_ condition: Bool, _ what: String) throws {
        try require(condition, what)
    }
}

struct RealWorld: World {
    struct Broken: Error {
        let what: String
    }

    private let threads: Guarded<[RunLoop.Thread]>
    let loop: RunLoop
    var executor: any TaskExecutor { loop.taskExecutor }

    /// Does the bug show? Waiting for ten seconds without an end counts as showing.
    static func shows(_ bug: PlantedBug) async throws -> Bool {
        let world = try RealWorld()
        let task = Task(executorPreference: world.executor) { try await bug.program(world, false) }
        let patience = Task {
            try await Task.sleep(for: .seconds(10))
            task.cancel()
            return true
        }
        let result = await withTaskGroup(of: Bool.self) { group in
            group.addTask { if case .failure = await task.result { true } else { false } }
            group.addTask { (try? await patience.value) ?? false }
            defer { patience.cancel() }
            return await group.next() ?? false
        }
        await world.end()
        return result
    }

    private init() throws {
        let thread = try RunLoop.Thread(name: "real")
        threads = Guarded([thread])
        loop = thread.loop
    }

    private func end() async {
        for thread in threads.withLock({ $0 }) {
            thread.stop()
            await thread.join()
        }
    }

    func makeLoop(_ name: String) throws -> RunLoop {
        let thread = try RunLoop.Thread(name: name)
        threads.withLock { $0.append(thread) }
        return thread.loop
    }

    func makeMessageLink(lossPercentage: Int, reorders: Bool) throws -> (CInt, CInt) {
        try makePair(SOCK_DGRAM)
    }

    func makeStreamLink() throws -> (CInt, CInt) { try makePair(SOCK_STREAM) }

    private func makePair(_ type: __socket_type) throws -> (CInt, CInt) {
        var ends: [CInt] = [-1, -1]
        if socketpair(AF_UNIX, CInt(type.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) != 0 {
            throw RunLoop.Error(errorNumber: errno)
        }
        return (ends[0], ends[1])
    }

    func allowDelays(upTo greatest: Duration) {}
    func choose(_ count: Int) -> Int { 0 }
    func check(_ condition: Bool, _ what: String) throws {
        if !condition { throw Broken(what: what) }
    }
}
