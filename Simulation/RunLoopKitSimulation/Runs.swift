#if os(Linux)
package import RunLoopKit
internal import RunLoopKitCLibrary

/// One run of a body.
struct Outcome: Sendable {
    let error: (any Error)?
    let made: [Choices.Made]
    let lines: [String]
    let story: [String]
    let duration: Duration

    var journal: [Int] { made.map(\.way) }

    /// What the journal says anyway is left out.
    var trimmed: [Int] {
        let journal = journal
        return Array(journal.prefix((journal.lastIndex { $0 != 0 } ?? -1) + 1))
    }

    /// The same failure, and not only one of the same kind.
    func failsLike(_ other: Outcome) -> Bool {
        guard let error, let otherError = other.error, type(of: error) == type(of: otherError) else { return false }
        switch (error, otherError) {
        case (let unmet as RunLoop.Simulation.UnmetRequirement, let other as RunLoop.Simulation.UnmetRequirement):
            // Its words may have figures in them.
            return unmet.line == other.line && unmet.file == other.file
                && unmet.what.filter { !$0.isNumber } == other.what.filter { !$0.isNumber }
        case (let stands as RunLoop.Simulation.Standstill, let other as RunLoop.Simulation.Standstill):
            return stands.waiters == other.waiters && stands.places == other.places
        case (is RunLoop.Simulation.Livelock, _), (is RunLoop.Simulation.Escape, _): return true
        default: return "\(error)" == "\(otherError)"
        }
    }

    func isSameRun(as other: Outcome) -> Bool {
        journal == other.journal && lines == other.lines && (error == nil) == (other.error == nil)
    }
}

/// The runs of one body, each on a thread of its own. Blocks the calling thread.
package struct Runs: Sendable {
    private let file: String
    private let line: UInt
    private let body: @Sendable (RunLoop.Simulation) async throws -> Void

    package init(
        of body: @escaping @Sendable (RunLoop.Simulation) async throws -> Void, _ file: String, _ line: UInt
    ) {
        (self.body, self.file, self.line) = (body, file, line)
    }

    func once(_ decisions: Decisions, tellsStory: Bool = false) -> Outcome {
        let outcome = Guarded<Outcome?>(nil)
        let starter = Starter()
        let begin = ContinuousClock.now
        PosixThread.start("simulation") {
            let choices = Choices(decisions)
            // A thread outside that resumes a task is awaited where it is to be found out, not in each of many repetitions.
            let patience: Int32 = if case .journal = decisions { 0 } else if ownsTasks { 3000 } else { 0 }
            let simulation = RunLoop.Simulation(choices, patience: patience, tellsStory: tellsStory)
            _ = simulation.beginWait(for: "the end of the body", file, line)
            let result = simulation.run(body, by: starter)
            var error: (any Error)?
            if case .failure(let thrown) = result { error = thrown }
            let run = Outcome(
                error: error, made: choices.made, lines: simulation.lines,
                story: simulation.schedule.story?.lines ?? [],
                duration: .now - begin)
            outcome.withLock { $0 = run }
        }.join()
        guard let run = outcome.withLock({ $0 }) else { preconditionFailure("A simulation has no outcome.") }
        return run
    }

    /// What is to be said of a run that failed. What is called repeatable has been repeated.
    func failure(
        _ outcome: Outcome, seed: UInt64?, _ report: RunLoop.Simulation.Report
    ) -> RunLoop.Simulation.Failure {
        guard let error = outcome.error else { preconditionFailure("A run has not failed.") }
        let again = once(seed.map { .seed($0) } ?? .journal(outcome.journal))
        let isRepeatable = again.isSameRun(as: outcome) && !(error is RunLoop.Simulation.Escape)
        if !isRepeatable { return RunLoop.Simulation.Failure(error, outcome, seed: seed, report, isRepeatable: false) }
        let shortest = shortened(outcome)
        let repeated = once(.journal(shortest.journal), tellsStory: true)
        let last = repeated.failsLike(shortest) ? repeated : shortest
        return RunLoop.Simulation.Failure(last.error ?? error, last, seed: seed, report, isRepeatable: true)
    }

    /// Takes back choices, many at a time and then fewer, as long as the body fails in the same way.
    private func shortened(_ failed: Outcome) -> Outcome {
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
                let outcome = once(.journal(journal))
                if outcome.failsLike(best) { best = outcome }
            }
            if size == 1 { break }
            size /= 2
        }
        return best
    }
}

func environmentNumber(_ name: String) -> UInt64? {
    unsafe getenv(name).flatMap { unsafe UInt64(String(cString: $0)) }
}
#endif
