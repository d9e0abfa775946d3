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
    let steps: Int
    /// From the run with which it was compared.
    let difference: Difference?

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
            return stands.reason.kind == other.reason.kind && stands.waiters == other.waiters
                && stands.places == other.places
        case (let trap as RunLoop.Simulation.Trap, let other as RunLoop.Simulation.Trap): return trap.isLike(other)
        case (let leak as RunLoop.Simulation.LeakedContinuation, let other as RunLoop.Simulation.LeakedContinuation):
            return leak.function == other.function
        case (is RunLoop.Simulation.Livelock, _), (is RunLoop.Simulation.Escape, _): return true
        default: return "\(error)" == "\(otherError)"
        }
    }

    func isSameRun(as other: Outcome) -> Bool {
        journal == other.journal && lines == other.lines && (error == nil) == (other.error == nil)
    }
}

/// The choices of another run, and of which the difference is looked for: the first, or the one of that number.
struct Following: Sendable {
    let made: [Choices.Made]
    var number: Int?
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

    func once(_ decisions: Decisions, tellsStory: Bool = false, following: Following? = nil) -> Outcome {
        let under = Guarded<UnderWay?>(nil)
        let result = Guarded<Result<Void, any Error>?>(nil)
        let starter = Starter()
        let begin = ContinuousClock.now
        let end = Turn()
        defer { end.free() }
        let thread = PosixThread.start("simulation") {
            let choices = Choices(decisions)
            let follows = following.map { Followed($0.made, number: $0.number) }
            // A thread outside that resumes a task is awaited where it is to be found out, not in each of many repetitions.
            let patience: Int32 = if case .journal = decisions { 0 } else if ownsTasks { 3000 } else { 0 }
            let simulation = RunLoop.Simulation(
                choices, named: name(of: decisions), patience: patience, tellsStory: tellsStory || Story.isPrinted,
                follows: follows, heir: end)
            _ = simulation.beginWait(for: "the end of the body", file, line)
            under.withLock { $0 = UnderWay(simulation: simulation, choices: choices) }
            let ended = simulation.run(body, by: starter)
            result.withLock { $0 = ended }
            end.give()
        }
        end.wait()
        guard let run = under.withLock({ $0 }) else { preconditionFailure("A simulation has no run.") }
        var error: (any Error)?
        if let ended = result.withLock({ $0 }) {
            thread.join()
            if case .failure(let thrown) = ended { error = thrown }
        } else {
            // It stays where it is.
            thread.detach()
            if case .failure(let thrown) = run.simulation.inherit() { error = thrown }
        }
        let duration = .now - begin - .milliseconds(run.simulation.schedule.spentPatience)
        return Outcome(
            error: error, made: run.choices.made, lines: run.simulation.lines,
            story: run.simulation.schedule.story?.lines ?? [], duration: duration,
            steps: run.simulation.schedule.steps, difference: run.choices.followed?.found)
    }

    /// Used by one thread after another.
    private struct UnderWay: @unchecked Sendable {
        let simulation: RunLoop.Simulation
        let choices: Choices
    }

    private func name(of decisions: Decisions) -> String {
        switch decisions {
        case .seed(let seed): "seed \(seed) of the body at \(file):\(line) (RUNLOOP_SIMULATION_SEED=\(seed) repeats it)"
        case .journal: "a repetition of the body at \(file):\(line)"
        case .search: "an order of the body at \(file):\(line)"
        }
    }

    /// What is to be said of a run that failed. What is called repeatable has been repeated.
    func failure(
        _ outcome: Outcome, seed: UInt64?, _ report: RunLoop.Simulation.Report
    ) -> RunLoop.Simulation.Failure {
        guard let error = outcome.error else { preconditionFailure("A run has not failed.") }
        let decisions = seed.map { Decisions.seed($0) } ?? .journal(outcome.journal)
        let again = once(decisions, following: Following(made: outcome.made))
        if error is RunLoop.Simulation.Escape { return .init(error, outcome, seed: seed, report) }
        if !again.isSameRun(as: outcome) {
            let difference = firstDifference(outcome, again, decisions)
            return .init(error, outcome, seed: seed, report, firstDifference: difference)
        }
        let last = repeatedWithStory(shortened(outcome)) ?? repeatedWithStory(outcome) ?? outcome
        return RunLoop.Simulation.Failure(last.error ?? error, last, seed: seed, report, isRepeatable: true)
    }

    /// The same, with its story. `nil` if it does not fail in the same way again: a mistake in memory may show elsewhere in a shorter run.
    private func repeatedWithStory(_ failed: Outcome) -> Outcome? {
        let repeated = once(.journal(failed.journal), tellsStory: true)
        return repeated.failsLike(failed) ? repeated : nil
    }

    /// With the names of what the first run had to choose from, if another one comes to the same choice.
    private func firstDifference(_ outcome: Outcome, _ again: Outcome, _ decisions: Decisions) -> String {
        var own: Difference?
        if let number = again.difference?.number, number < outcome.made.count {
            for _ in 0..<3 where own == nil {
                let found = once(decisions, following: Following(made: [], number: number)).difference
                let isSame = found.map {
                    ($0.way, $0.ways) == (outcome.made[number].way, outcome.made[number].chosenFrom)
                }
                if isSame == true { own = found }
            }
        }
        return outcome.firstDifference(again, again.difference, own)
    }

    /// Of a search for the shortest run: how many threads may stay where they are for it.
    private static let mostThreadsLeft = 100
    /// And how many steps there may be, which only runs that go round need.
    private static let mostSteps = 4_000_000

    /// Takes back choices, many at a time and then fewer, as long as the body fails in the same way.
    private func shortened(_ failed: Outcome) -> Outcome {
        var best = failed
        var attemptsLeft = 300
        var threadsLeft = Self.mostThreadsLeft
        var stepsLeft = Self.mostSteps
        var size = max(1, best.trimmed.count / 2)
        while attemptsLeft > 0 && threadsLeft > 0 && stepsLeft > 0 {
            var begin = 0
            while begin < best.trimmed.count && attemptsLeft > 0 && threadsLeft > 0 && stepsLeft > 0 {
                var journal = best.trimmed
                let range = begin..<min(begin + size, journal.count)
                begin += size
                if journal[range].allSatisfy({ $0 == 0 }) { continue }
                journal.replaceSubrange(range, with: repeatElement(0, count: range.count))
                attemptsLeft -= 1
                let outcome = once(.journal(journal))
                stepsLeft -= outcome.steps
                // The thread of a loop has descriptors, of which other tests need some as well.
                if let trap = outcome.error as? RunLoop.Simulation.Trap {
                    threadsLeft = areDescriptorsScarce ? 0 : threadsLeft - (trap.isOnLoop ? 3 : 1)
                }
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
