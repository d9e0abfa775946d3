#if os(Linux)
public import RunLoopKit

extension RunLoop.Simulation {
    /// What was tried, and how long it took.
    ///
    ///     let report = try await simulate(seeds: 1000) { _ in await server.drain() }
    ///     print("\(report.runs) seeds in \(report.duration)")
    public struct Report: Sendable, CustomStringConvertible {
        /// How many runs of the body there were: one for each seed, or for each order.
        public private(set) var runs = 0
        /// How long they took altogether, of real time.
        public private(set) var duration = Duration.zero
        /// Are these all orders that there are? Only `simulateAllOrders` knows.
        public internal(set) var isComplete = false
        /// How many an order had at most; `nil`: any number, or the seed's.
        private let preemptions: Int?

        init(preemptions: Int? = nil) {
            self.preemptions = preemptions
        }

        mutating func add(_ outcome: Outcome) {
            runs += 1
            duration += outcome.duration
        }

        /// All of that, in a sentence.
        public var description: String {
            let bound = preemptions.map { " with at most \($0) preemptions" } ?? ""
            let what = isComplete ? "All \(runs) orders\(bound)" : "\(runs) run\(runs == 1 ? "" : "s")\(bound)"
            return "\(what), \((duration / max(runs, 1)).inMicroseconds) each."
        }
    }

    /// A run in which the body failed.
    ///
    ///     do {
    ///         try await simulate(seeds: 1000) { _ in await server.drain() }
    ///     } catch let failure as RunLoop.Simulation.Failure {
    ///         print(failure)
    ///         // The shortest run that was found to fail in this way, once more.
    ///         try await replay(failure.journal) { _ in await server.drain() }
    ///     }
    public struct Failure: Error, CustomStringConvertible {
        /// The seed under which it failed first; `nil` if a journal was replayed, or all orders were tried.
        public let seed: UInt64?
        /// What the body threw, or that nothing could happen any more.
        public let error: any Swift.Error
        /// The choices that lead there, for `replay(_:)`. After the last one the first way is taken each time.
        public let journal: [Int]
        /// The lines that the failing run has noted, each with its time.
        public let lines: [String]
        /// What happened in the shortest run that was found to fail in this way, step by step: which one did what, when, and at which line. Empty
        /// if the run could not be repeated.
        public let story: [String]
        /// The runs before, and this one; `nil` if a journal was replayed.
        public let report: Report?
        /// Did a second run under the seed go the same way? If not, something of the program is outside the simulation.
        public let isRepeatable: Bool
        /// If it did not, the first choice at which it differed: in which step, when, at which line, and what there was to choose from.
        public let firstDifference: String?

        init(
            _ error: any Swift.Error, _ outcome: Outcome, seed: UInt64?, _ report: Report?, isRepeatable: Bool = false,
            firstDifference: String? = nil
        ) {
            self.seed = seed
            self.error = error
            journal = outcome.trimmed
            lines = outcome.lines
            story = outcome.story
            self.report = report
            self.isRepeatable = isRepeatable
            self.firstDifference = firstDifference
        }

        /// All of that, in sentences, but of a long story only the last hundred steps.
        public var description: String { text(steps: 100) }

        /// The same, with all steps.
        package var wholeDescription: String { text(steps: .max) }

        private func text(steps count: Int) -> String {
            let repetition = isRepeatable ? ["It is repeated by replay(\(journal))."] : notRepeatable
            return
                (["\(seed.map { "Seed \($0) fails. " } ?? "")\(error)"] + repetition
                + (report.map { ["\($0)"] } ?? []) + happened(count)).joined(separator: "\n")
        }

        private func happened(_ count: Int) -> [String] {
            if story.isEmpty { return lines.suffix(count) }
            let left = story.count - count
            return ["What happens:"] + (left > 0 ? ["(\(left) steps before)"] : []) + story.suffix(count)
        }

        /// An ``Escape`` says why itself.
        private var notRepeatable: [String] {
            guard let firstDifference else { return [] }
            let sentence = """
                A second run under the seed went another way, so something of the program has left the simulation: a thread, a Dispatch queue, a \
                descriptor of the world outside, or an order that the process decides, such as that of a set's elements.
                """
            return [sentence, firstDifference]
        }
    }
}

extension Duration {
    fileprivate var inMicroseconds: String { "\(Int64(self / .microseconds(1))) µs" }
}
#endif
