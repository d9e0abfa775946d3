#if os(Linux)
public import RunLoopKit

extension RunLoop.Simulation {
    /// The error of a run in which nothing can happen any more: no task is ready, no loop has anything to do, and nobody waits for an
    /// instant. Or of one in which something happens again and again, but not what the test awaits: it has taken longer than the limit that
    /// it has from ``awaiting(_:atMost:fileID:line:isolation:_:)``; or there were more steps than ``mostSteps``, in the last half of which
    /// neither the body nor anything that it awaits did one.
    ///
    ///     if let standstill = failure.error as? RunLoop.Simulation.Standstill {
    ///         // What has waited longest comes first.
    ///         for task in standstill.tasks { print(task) }
    ///     }
    public struct Standstill: Error, CustomStringConvertible {
        enum Reason: Hashable {
            case nothingHappens
            /// What was awaited too long, in words.
            case limit(String)
            /// Only these functions go on, the most frequent first.
            case others([String])

            /// Without figures.
            var kind: Int {
                switch self {
                case .nothingHappens: 0
                case .limit: 1
                case .others: 2
                }
            }
        }

        let reason: Reason
        /// What is waited for, by the body and by each task that said so by ``awaiting(_:atMost:fileID:line:isolation:_:)``, and where: "the answer:
        /// Tests/File.swift:12".
        public let waiters: [String]
        /// Each task that waits for ever, in words: for a continuation, another task or a group, in which function, at which line and on which
        /// actor, and since when. The one that has waited longest comes first.
        public let tasks: [String]
        /// The tasks without their numbers and times, but with their lines.
        var places: Set<String> { Set(tasks.map { RunLoop.Simulation.withoutNumbers($0) }) }
        /// Descriptions of the simulation's loops: their modes and items.
        public let loops: [String]
        /// What the simulation has noted.
        let lines: [String]

        /// All of that, in sentences.
        public var description: String {
            ([sentence] + waiters.map { "Waiting for \($0)" } + tasks + lines.suffix(20) + itemsOfLoops).joined(
                separator: "\n")
        }

        /// Without those of the simulation, and only if there are others.
        private var itemsOfLoops: [String] {
            let shown = loops.map { $0.split(separator: "\n").filter { !$0.contains("“RunLoopKitSimulation/") } }
            let hasItems = shown.joined().contains { $0.hasPrefix("        ") }
            return hasItems ? ["The loops:"] + shown.joined().map(String.init) : []
        }

        private var sentence: String {
            switch reason {
            case .nothingHappens:
                "Nothing can happen any more, and the body has not ended: it waits for something that never comes."
            case .limit(let what): "The program goes on, but what the test awaits has not come: \(what)."
            case .others(let functions):
                """
                The body waits for something that never comes. Others go on again and again, but in the last half of all steps nothing that it \
                awaits did. The latest steps were in
                \(functions.joined(separator: "\n"))
                """
            }
        }
    }

    /// "Task 2 awaits something in wait, App/Pool.swift:12 since 1.0 seconds" with no number but that of the line.
    private static func withoutNumbers(_ text: String) -> String {
        var (kept, isLine) = ("", false)
        for character in text {
            isLine = character == ":" || isLine && character.isNumber
            if isLine || !character.isNumber { kept.append(character) }
        }
        return kept
    }

    /// The program goes round, and never ends: there were more steps than ``mostSteps``.
    ///
    ///     if let livelock = failure.error as? RunLoop.Simulation.Livelock {
    ///         print("\(livelock.steps) steps, most of them in", livelock.functions)
    ///     }
    public struct Livelock: Error, CustomStringConvertible {
        /// How many steps of tasks and of time there were.
        public let steps: Int
        /// The functions in which the latest of them were, the most frequent first.
        public let functions: [String]
        /// What the simulation has noted.
        let lines: [String]

        /// All of that, in sentences.
        public var description: String {
            (["The body has not ended after \(steps) steps: the program goes round. The latest were in"] + functions
                + lines.suffix(20)).joined(separator: "\n")
        }
    }

    /// A thread outside the simulation, of a Dispatch queue for instance, has resumed a task of it.
    ///
    ///     if let escape = failure.error as? RunLoop.Simulation.Escape {
    ///         print("tasks go on by a thread outside in", escape.functions)
    ///     }
    public struct Escape: Error, CustomStringConvertible {
        /// The functions in which the tasks went on, the most frequent first.
        public let functions: [String]
        /// What the simulation has noted.
        let lines: [String]

        /// All of that, in sentences.
        public var description: String {
            let sentence = """
                The program has left the simulation: a thread outside has resumed a task, so the same seed need not give the same run. \
                It went on in
                """
            return ([sentence] + functions + lines.suffix(20)).joined(separator: "\n")
        }
    }

    /// A condition that does not hold.
    ///
    ///     try await simulate(seeds: 100) { simulation in
    ///         let answer = 6 * 7
    ///         // Otherwise the run ends with this error.
    ///         try simulation.require(answer == 42, "the answer is known")
    ///     }
    public struct UnmetRequirement: Error, CustomStringConvertible {
        /// The condition that was not met, in words; or what a framework for tests says.
        public let what: String
        /// The file that requires it, `Module/File.swift`.
        public let file: String
        /// The line of the requirement, in that file.
        public let line: UInt
        private let begin: String

        init(_ what: String, file: String, line: UInt) {
            (self.what, self.file, self.line, begin) = (what, file, line, "It is required that ")
        }

        package init(failed text: String, file: String, line: UInt) {
            (what, self.file, self.line, begin) = (text, file, line, "")
        }

        /// All of that, in a sentence.
        public var description: String { "\(begin)\(what): \(file):\(line)." }
    }
}
#endif
