#if os(Linux)
internal import CRunLoopSimulation
public import RunLoopKit
internal import RunLoopKitTasks

extension RunLoop.Simulation {
    /// What would have ended the process: a precondition that does not hold, `fatalError`, arithmetic that overflows, an index out of range, a
    /// continuation that is resumed twice, a bad address, `abort`, `exit`.
    ///
    ///     if let trap = failure.error as? RunLoop.Simulation.Trap {
    ///         print(trap.what, trap.place)
    ///         for call in trap.calls { print("    \(call)") }
    ///     }
    ///
    /// The thread on which it happened stays there until the process ends, with what it holds; the rest of the run ends, and other runs follow.
    public struct Trap: Error, CustomStringConvertible {
        /// What the runtime says, "Fatal error: Index out of range" for instance; or the signal, "SIGSEGV"; or the call, "exit(1)".
        public let what: String
        /// The innermost function of the program's own, and its line: "Pool.lease, Pool/Pool.swift:120". Empty if that is not known.
        public let place: String
        /// Which task, loop or actor it was in: "task 3".
        public let context: String
        /// The functions of the program's own that led there, the innermost first, without those before an `await`.
        public let calls: [String]
        let isOnLoop: Bool

        /// All of that, in sentences.
        public var description: String {
            let at = place.isEmpty ? "" : ", at \(place)"
            let callers = calls.dropFirst().map { "\ncalled by \($0)" }.joined()
            return "The program ends here, in \(context): \(what)\(at).\(callers)"
        }
    }

    /// A checked continuation was dropped without being resumed, so the task that waits for it does so for ever.
    ///
    ///     if let leak = failure.error as? RunLoop.Simulation.LeakedContinuation {
    ///         print("the continuation of", leak.function, "was dropped at", leak.place)
    ///     }
    public struct LeakedContinuation: Error, CustomStringConvertible {
        /// The function that made it, as the runtime says: "lease()".
        public let function: String
        /// Where the last reference to it ended. Empty if that is not known.
        public let place: String
        /// Each task that waits, and where, as a ``Standstill`` has it.
        public private(set) var tasks: [String] = []

        /// All of that, in sentences.
        public var description: String {
            let at = place.isEmpty ? "" : ", at \(place)"
            return (["A continuation of \(function) was dropped\(at), and is never resumed."] + tasks).joined(
                separator: "\n")
        }
    }
}

extension RunLoop.Simulation.Trap {
    /// The one that the world has, of a member of that name.
    init(_ world: UnsafePointer<runloop_simulated_world>, in context: String, isOnLoop: Bool) {
        let said = unsafe runloop_simulation_trap_message(world).map { unsafe RuntimeMessage(String(cString: $0)) }
        let trap = unsafe world.pointee.trap
        let (signal, status, count) = unsafe (trap.signal, trap.status, trap.count)
        let name = unsafe String(cString: trap.signal_name)
        let calls = ProgramCalls((0..<count).map { unsafe UInt(bitPattern: runloop_simulation_trap_call(world, $0)) })
        what = signal == 0 ? "\(name)(\(status))" : said?.text ?? name
        // The runtime knows the line also where the compiler has put the traps of several into one.
        place = calls.place(said?.line)
        self.calls = calls.places.isEmpty || said?.line != nil ? [place] + calls.places.dropFirst() : calls.places
        (self.context, self.isOnLoop) = (context, isOnLoop)
    }

    /// By the caller, and where that was the first time is in the story.
    init(secondResumeOf task: Int, in context: String) {
        what = "an unsafe continuation of task \(task) is resumed more than once"
        calls = Calls().places(8).map(\.full)
        place = calls.first ?? ""
        (self.context, isOnLoop) = (context, false)
    }

    /// For the story.
    var happened: String {
        let at = place.isEmpty ? "" : ", at \(place)"
        return "comes to its end: \(what)\(at)"
    }

    /// The same, and not only another one.
    func isLike(_ other: Self) -> Bool {
        place == other.place && what.filter { !$0.isNumber } == other.what.filter { !$0.isNumber }
    }
}

extension RunLoop.Simulation.LeakedContinuation {
    /// As the runtime says it, on the thread that drops it.
    init(_ text: String) {
        let name = text.firstRange(of: "MISUSE: ").map { text[$0.upperBound...] } ?? text[...]
        let end = name.firstRange(of: " leaked its continuation")?.lowerBound ?? name.endIndex
        function = String(name[..<end])
        place = CodePlace.ofCaller?.full ?? ""
    }

    /// For the story.
    var happened: String { "drops a continuation of \(function)\(place.isEmpty ? "" : ", at \(place)")" }

    /// By those of the tasks that wait in the function, or by any if that has another name there.
    func waited(by tasks: [String]) -> Self {
        var leak = self
        let name = function.prefix { $0 != "(" }
        let found = tasks.filter { $0.contains("a continuation in ") && $0.contains(name) }
        leak.tasks = found.isEmpty ? tasks : found
        return leak
    }
}

/// "Pool/Pool.swift:120: Fatal error: Index out of range", in parts.
private struct RuntimeMessage {
    let text: String
    /// Of the program's own.
    let line: String?

    init(_ message: String) {
        let kinds = ["Fatal error", "Precondition failed", "Assertion failed"]
        let lines = message.split(separator: "\n").map(String.init)
        let message = lines.first { line in kinds.contains { line.contains($0) } } ?? lines.last ?? ""
        guard let begin = kinds.compactMap({ message.firstRange(of: $0)?.lowerBound }).min() else {
            (text, line) = (String(message[...].trimmingSuffix { $0 == "." }), nil)
            return
        }
        text = String(message[begin...])
        let place = message[..<begin].trimmingSuffix { ": ".contains($0) }
        line = place.isEmpty || place.hasPrefix("Swift/") || place.hasPrefix("_Concurrency/") ? nil : String(place)
    }
}

extension Substring {
    fileprivate func trimmingSuffix(_ isDropped: (Character) -> Bool) -> Substring {
        prefix(lastIndex { !isDropped($0) }.map { distance(from: startIndex, to: $0) + 1 } ?? 0)
    }
}

/// Of the calls that led somewhere, those in the program's own functions.
private struct ProgramCalls {
    private let innermost: UInt?
    private let function: String?
    let places: [String]

    init(_ calls: [UInt]) {
        innermost = calls.first
        let found = CodePlace.ofProgram(calls)
        var places: [String] = []
        for place in found.map(\.full) where places.count < Self.most && !places.contains(place) {
            places.append(place)
        }
        self.places = places
        function = found.first?.function
    }

    private static let most = 16

    /// Where the innermost of them is: at a line that is known, or at the one that the compiler has noted.
    func place(_ line: String?) -> String {
        if let line { return function.map { "\($0), \(line)" } ?? line }
        return jumps ?? places.first ?? ""
    }

    /// A trap without a line, by where the program comes from.
    private var jumps: String? {
        guard let innermost, let trap = CodePlace(function: innermost), trap.source == nil else { return nil }
        var jumps = unsafe [UnsafeMutableRawPointer?](repeating: nil, count: 8)
        let count = unsafe runloop_simulation_find_jumps(
            UnsafeRawPointer(bitPattern: innermost), &jumps, Int32(jumps.count))
        let found = unsafe jumps.prefix(Int(count)).compactMap { CodePlace(function: UInt(bitPattern: $0)) }
        let lines = Set(found.map(\.line)).subtracting([""]).sorted()
        if lines.isEmpty || found.contains(where: { $0.source.map { CodePlace.isOurs($0.path) } ?? false }) {
            return nil
        }
        return "\(trap.function), \(lines.joined(separator: " or "))"
    }
}
#endif
