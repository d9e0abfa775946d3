#if os(Linux)
internal import RunLoopKit

/// The seeds of a search, which several threads share. They are taken in order, so those that are smaller than one that fails have been taken by
/// then: when all threads have ended, the smallest is known, as with one thread alone.
final class Seeds: Sendable {
    private struct State {
        var taken: UInt64 = 0
        var report = RunLoop.Simulation.Report()
        /// The smallest.
        var failed: (number: UInt64, outcome: Outcome)?
    }

    private let first: UInt64
    private let count: UInt64
    private let state = Guarded(State())

    init(from first: UInt64, count: Int) {
        (self.first, self.count) = (first, UInt64(max(0, count)))
    }

    /// Runs the body under seeds as long as there are any. Blocks the calling thread.
    func search(_ runs: Runs) {
        while let number = takeNext() {
            let outcome = runs.once(.seed(first &+ number))
            state.withLock { state in
                state.report.add(outcome)
                if outcome.error != nil, state.failed.map({ number < $0.number }) ?? true {
                    state.failed = (number, outcome)
                }
            }
        }
    }

    private func takeNext() -> UInt64? {
        state.withLock { state in
            if state.failed != nil || state.taken == count { return nil }
            defer { state.taken += 1 }
            return state.taken
        }
    }

    /// When all threads have ended.
    var report: RunLoop.Simulation.Report { state.withLock { $0.report } }

    var failed: (seed: UInt64, outcome: Outcome)? {
        state.withLock { $0.failed }.map { (first &+ $0.number, $0.outcome) }
    }
}
#endif
