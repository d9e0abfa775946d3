#if os(Linux)
public import RunLoopKit

/// The simulation of RunLoopKit, also in a file that imports Foundation, where `RunLoop` alone could be Foundation's: `Simulation.current`.
public typealias Simulation = RunLoop.Simulation

/// Runs `body` in a simulation under each seed, until one makes it fail.
///
///     try await simulate(seeds: 1000) { simulation in
///         let start = ContinuousClock.now
///         try await Task.sleep(for: .seconds(3600))
///         try simulation.require(
///             ContinuousClock.now - start >= .seconds(3600),
///             "a sleep is never short")
///     }
///
/// Each simulation has a thread of its own, which begins and ends with it. The body fails if it throws, or if it waits for something that never
/// comes. The failure names the seed, says what happened, and has the shortest journal that was found to fail in the same way;
/// `replay(_:)` repeats that run, in another process as well.
///
/// The environment decides, if it has RUNLOOP_SIMULATION_SEED, which is the first seed, and that it is tried alone; or, if it has
/// RUNLOOP_SIMULATION_SEEDS, how many are tried; or, if it has RUNLOOP_SIMULATION_JOBS, how many at a time.
///
/// - Parameters:
///   - count: how many seeds are tried.
///   - first: the first one; the others follow it.
///   - jobs: how many are tried at a time, each on a thread of its own. What the body has captured is then used by several runs at once. The smallest
///     seed that fails is found, however many there are.
/// - Returns: how many seeds there were, and how long they took.
/// - Throws: `RunLoop.Simulation.Failure`.
@discardableResult
public func simulate(
    seeds count: Int = 100, from first: UInt64 = 0, jobs: Int = 1, fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
) async throws -> RunLoop.Simulation.Report {
    try await simulate(seeds: count, from: first, jobs: jobs, of: Runs(of: body, "\(fileID)", line))
}

/// The same, of a body that another file has.
package func simulate(
    seeds count: Int, from first: UInt64, jobs: Int, of runs: Runs
) async throws(RunLoop.Simulation.Failure) -> RunLoop.Simulation.Report {
    let only = environmentNumber("RUNLOOP_SIMULATION_SEED")
    let count = environmentNumber("RUNLOOP_SIMULATION_SEEDS").map { Int(clamping: $0) } ?? (only == nil ? count : 1)
    let jobs = environmentNumber("RUNLOOP_SIMULATION_JOBS").map { Int(clamping: $0) } ?? jobs
    let seeds = Seeds(from: only ?? first, count: count)
    return try await Admission.shared.admit { () async throws(RunLoop.Simulation.Failure) in
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<max(1, min(jobs, count)) {
                group.addTask(executorPreference: ThreadExecutor()) { seeds.search(runs) }
            }
        }
        guard let (seed, outcome) = seeds.failed else { return seeds.report }
        return try await onThread { () throws(RunLoop.Simulation.Failure) in
            throw runs.failure(outcome, seed: seed, seeds.report)
        }
    }
}

/// Runs `body` in a simulation in every order that its tasks and loops can have with so many preemptions, until one makes it fail.
///
///     let report = try await simulateAllOrders { simulation in
///         let other = try simulation.makeLoop("other")
///         async let answer = other.performAndWait { 42 }
///         other.perform { simulation.note("before or after") }
///         try simulation.require(try await answer == 42, "the answer comes")
///     }
///     precondition(report.isComplete)
///
/// A preemption is a change to another one at a place where the one that has the turn could go on. Most mistakes need one or two, so a small bound
/// finds them, and it says what has been proved: with at most so many, nothing goes wrong. Whatever else the simulation decides, delays
/// and losses on links for instance, is tried in every way, too; but random numbers are those of one throw. The number of orders grows
/// with the power of the preemptions: this is for small bodies.
///
/// - Parameters:
///   - preemptions: how many there are at most in an order; `nil`: any number.
///   - count: how many orders are tried at most.
/// - Returns: how many orders there were, and whether they are all that there are.
/// - Throws: `RunLoop.Simulation.Failure`.
@discardableResult
public func simulateAllOrders(
    preemptions: Int? = 2, atMost count: Int = 100_000, fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
) async throws -> RunLoop.Simulation.Report {
    let runs = Runs(of: body, "\(fileID)", line)
    return try await onAdmittedThread { () throws(RunLoop.Simulation.Failure) in
        var report = RunLoop.Simulation.Report(preemptions: preemptions)
        var next: [Int]? = []
        while let journal = next, report.runs < count {
            let outcome = runs.once(.search(journal))
            report.add(outcome)
            if outcome.error != nil { throw runs.failure(outcome, seed: nil, report) }
            next = Choices.next(after: outcome.made, preemptions: preemptions)
        }
        report.isComplete = next == nil
        return report
    }
}

/// Runs `body` once in a simulation, in the order that comes to hand first, and returns what it returned: for a test of asynchronous code that
/// would have to wait for seconds or hours. All of it is in virtual time, actors and unstructured tasks included.
///
///     let answer = try await withSimulation { _ in
///         try await Task.sleep(for: .seconds(3600))
///         return 42
///     }
///
/// - Throws: `RunLoop.Simulation.Failure`, whose `error` is what the body threw.
public func withSimulation<Value: Sendable>(
    fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Value
) async throws -> Value {
    let value = Guarded<Value?>(nil)
    try await replay([], fileID: fileID, line: line) { simulation in
        let returned = try await body(simulation)
        value.withLock { $0 = returned }
    }
    guard let value = value.withLock({ $0 }) else { preconditionFailure("A body has ended without a value.") }
    return value
}

/// Repeats the run of a journal: every choice as it was written there, and the first way after its end.
///
/// - Throws: `RunLoop.Simulation.Failure`.
public func replay(
    _ journal: [Int], fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
) async throws {
    try await replay(journal, of: Runs(of: body, "\(fileID)", line))
}

/// The same, of a body that another file has.
package func replay(_ journal: [Int], of runs: Runs) async throws(RunLoop.Simulation.Failure) {
    try await onAdmittedThread { () throws(RunLoop.Simulation.Failure) in
        let outcome = runs.once(.journal(journal), tellsStory: true)
        if let error = outcome.error {
            throw RunLoop.Simulation.Failure(error, outcome, seed: nil, nil, isRepeatable: true)
        }
    }
}

/// Calls `body`, which blocks, on a thread of its own, in a task that has the locals of the caller's.
private func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws(RunLoop.Simulation.Failure) -> Value
) async throws(RunLoop.Simulation.Failure) -> Value {
    let task = Task(executorPreference: ThreadExecutor()) {
        Result { () throws(RunLoop.Simulation.Failure) in try body() }
    }
    return try await task.value.get()
}

/// The same, when the call is admitted.
private func onAdmittedThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws(RunLoop.Simulation.Failure) -> Value
) async throws(RunLoop.Simulation.Failure) -> Value {
    try await Admission.shared.admit { () async throws(RunLoop.Simulation.Failure) in try await onThread(body) }
}

private final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        PosixThread.start("simulations") { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }.detach()
    }
}
#endif
