public import RunLoopKit
internal import RunLoopKitTesting

/// Runs `body` in a simulation under each seed, until one makes it fail.
///
///     try await simulate(seeds: 1000) { simulation in
///         let start = simulation.clock.now
///         try await simulation.clock.sleep(for: .seconds(3600))
///         try simulation.require(simulation.clock.now - start >= .seconds(3600), "a sleep is never short")
///     }
///
/// Each simulation has a thread of its own, which begins and ends with it. The body fails if it throws, or if it waits for something that never
/// comes. The failure names the seed, and has the shortest journal that was found to fail in the same way; `replay(_:)` repeats that run.
///
/// - Throws: `RunLoop.Simulation.Failure`.
public func simulate(
    seeds count: Int = 100, from first: UInt64 = 0, fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
) async throws(RunLoop.Simulation.Failure) {
    let caller = Caller(fileID, line)
    for seed in 0..<UInt64(count) {
        let outcome = await runOnce(.seed(first &+ seed), caller, body)
        guard let error = outcome.error else { continue }
        // What is called repeatable has been repeated.
        let again = await runOnce(.seed(first &+ seed), caller, body)
        let isRepeatable = again.isSameRun(as: outcome) && !(error is RunLoop.Simulation.Escape)
        let shortest = isRepeatable ? await shortened(outcome, caller, body) : outcome
        throw RunLoop.Simulation.Failure(
            seed: first &+ seed, error: shortest.error ?? error, journal: shortest.trimmed, lines: shortest.lines,
            isRepeatable: isRepeatable)
    }
}

/// Repeats the run of a journal: every choice as it was written there, and the first way after its end.
///
/// - Throws: `RunLoop.Simulation.Failure`.
public func replay(
    _ journal: [Int], fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
) async throws(RunLoop.Simulation.Failure) {
    let outcome = await runOnce(.journal(journal), Caller(fileID, line), body)
    guard let error = outcome.error else { return }
    throw RunLoop.Simulation.Failure(
        seed: nil, error: error, journal: outcome.trimmed, lines: outcome.lines, isRepeatable: true)
}

extension RunLoop.Simulation {
    /// A run in which the body failed.
    public struct Failure: Error, CustomStringConvertible {
        /// The seed under which it failed first; `nil` if a journal was replayed.
        public let seed: UInt64?
        /// What the body threw, or that nothing could happen any more.
        public let error: any Swift.Error
        /// The choices that lead there, for `replay(_:)`. After the last one the first way is taken each time.
        public let journal: [Int]
        /// What the simulation noted.
        public let lines: [String]
        /// Did a second run under the seed go the same way? If not, something of the program is outside the simulation.
        public let isRepeatable: Bool

        /// All of that, in sentences.
        public var description: String {
            """
            \(seed.map { "Seed \($0) fails. " } ?? "")\(error)
            \(isRepeatable ? "It is repeated by replay(\(journal))." : Self.notRepeatable)
            \(lines.suffix(40).joined(separator: "\n"))
            """
        }

        private static let notRepeatable = """
            A second run under the seed went another way, so something of the program has left the simulation: a thread, a Dispatch queue, a \
            descriptor of the world outside, or an order that the process decides, such as that of a set's elements.
            """
    }
}

/// Where a simulation is asked for: its body waits there.
private struct Caller: Sendable {
    let file: String
    let line: UInt

    init(_ fileID: StaticString, _ line: UInt) { (file, self.line) = ("\(fileID)", line) }
}

private enum Decisions: Sendable {
    case seed(UInt64)
    case journal([Int])
}

private struct Outcome: Sendable {
    let error: (any Error)?
    let journal: [Int]
    let lines: [String]

    /// What the journal says anyway is left out.
    var trimmed: [Int] {
        Array(journal.prefix((journal.lastIndex { $0 != 0 } ?? -1) + 1))
    }

    /// The same failure, and not only one of the same kind.
    func failsLike(_ other: Outcome) -> Bool {
        guard let error, let otherError = other.error, type(of: error) == type(of: otherError) else { return false }
        switch (error, otherError) {
        case (let unmet as RunLoop.Simulation.UnmetRequirement, let other as RunLoop.Simulation.UnmetRequirement):
            // Its words may have figures in them.
            return unmet.line == other.line && "\(unmet.fileID)" == "\(other.fileID)"
                && unmet.what.filter { !$0.isNumber } == other.what.filter { !$0.isNumber }
        case (let stands as RunLoop.Simulation.Standstill, let other as RunLoop.Simulation.Standstill):
            return stands.waiters == other.waiters
        case (is RunLoop.Simulation.Livelock, _), (is RunLoop.Simulation.Escape, _): return true
        default: return "\(error)" == "\(otherError)"
        }
    }

    func isSameRun(as other: Outcome) -> Bool {
        journal == other.journal && lines == other.lines && (error == nil) == (other.error == nil)
    }
}

private func runOnce(
    _ decisions: Decisions, _ caller: Caller, _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
) async -> Outcome {
    await withRunLoop(name: "simulation") { _ in
        // A thread outside that resumes a task is awaited where it is to be found out, not in each of many repetitions.
        let (choices, patience): (Choices, Int32) =
            switch decisions {
            case .seed(let seed): (Choices(seed: seed), 100)
            case .journal(let journal): (Choices(journal: journal), 0)
            }
        do {
            let simulation = try RunLoop.Simulation(choices, patience: ownsTasks ? patience : 0)
            _ = simulation.beginWait(.init(what: "the end of the body", file: caller.file, line: caller.line))
            let result = simulation.run(body)
            var error: (any Error)?
            if case .failure(let thrown) = result { error = thrown }
            return Outcome(error: error, journal: choices.journal, lines: simulation.lines)
        } catch {
            return Outcome(error: error, journal: [], lines: [])
        }
    }
}

/// Takes back choices, many at a time and then fewer, as long as the body fails in the same way.
private func shortened(
    _ failed: Outcome, _ caller: Caller, _ body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void
) async -> Outcome {
    var best = failed
    var attemptsLeft = 300
    var size = max(1, best.trimmed.count / 2)
    while attemptsLeft > 0 {
        var begin = 0
        while begin < best.trimmed.count && attemptsLeft > 0 {
            var journal = best.trimmed
            let range = begin..<min(begin + size, journal.count)
            begin += size
            if journal[range].allSatisfy({ $0 == 0 }) { continue }
            journal.replaceSubrange(range, with: repeatElement(0, count: range.count))
            attemptsLeft -= 1
            let outcome = await runOnce(.journal(journal), caller, body)
            if outcome.failsLike(best) { best = outcome }
        }
        if size == 1 { break }
        size /= 2
    }
    return best
}
