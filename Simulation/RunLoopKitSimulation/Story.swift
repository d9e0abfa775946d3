#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopOverlay
internal import CRunLoopSimulation
internal import RunLoopKit
internal import RunLoopKitCLibrary
internal import RunLoopKitTasks

/// What happens in a run, step by step, of the shortest run that fails, since it takes longer than the run.
final class Story {
    enum Event {
        /// One goes on whose turn it was not.
        case turn
        /// A task goes on, after an await.
        case job(CodePlace?)
        /// A task will go on.
        case resumed(UInt32, CodePlace?)
        /// What a thread did by a call of libc's: "posts a semaphore".
        case did(String)
        case sent(runloop__sent, what: UInt?, to: String)
        case noted(String)
        case trapped(RunLoop.Simulation.Trap)
        case leaked(RunLoop.Simulation.LeakedContinuation)
        /// On the way between two ends.
        case link(String)
    }

    private(set) var lines: [String] = []
    private let start: Int64

    init(startingAt start: Int64) {
        self.start = start
    }

    /// Does the environment ask for each line as it happens? For runs that end the process.
    static let isPrinted = unsafe getenv("RUNLOOP_SIMULATION_STORY") != nil

    private func append(_ line: String) {
        lines.append(line)
        if Self.isPrinted { _ = unsafe "\(line)\n".withCString { unsafe write(STDERR_FILENO, $0, strlen($0)) } }
    }

    func add(_ event: Event, by who: String, at now: Int64, number: (UInt32) -> Int) {
        let time = Nanoseconds.inSeconds(now - start)
        switch event {
        case .turn: add(time, who, "goes on", nil)
        case .job(let place): add(time, who, "runs \(place.map(\.full) ?? "on")", nil)
        case .resumed(let task, let place):
            let rest = place.map { ", to run \($0.full)" } ?? ""
            add(time, who, task == 0 ? "wakes an actor" : "wakes task \(number(task))\(rest)", CodePlace.ofCaller)
        case .sent(let kind, let what, let loop):
            guard let caller = CodePlace.ofCaller else { return }
            switch kind {
            case RUNLOOP__SENT_TASK:
                let function = what.flatMap { CodePlace(function: $0) }.map { " \($0.full)" } ?? " a function"
                add(time, who, "sends\(function) to loop \(loop)", caller)
            case RUNLOOP__SENT_STOP: add(time, who, "stops loop \(loop)", caller)
            default: add(time, who, "wakes loop \(loop)", caller)
            }
        case .link(let text): append("\(time) a link \(text)")
        case .did(let what): add(time, who, what, CodePlace.ofCaller)
        case .noted(let text): add(time, who, "notes: \(text)", nil)
        case .trapped(let trap): add(time, who, trap.happened, nil)
        case .leaked(let leak): add(time, who, leak.happened, nil)
        }
    }

    private func add(_ time: String, _ who: String, _ what: String, _ place: CodePlace?) {
        append("\(time) \(who) \(what)\(place.map { ", at \($0.line)" } ?? "")")
    }
}

extension Nanoseconds {
    /// "10826.779 seconds": a person counts in decimals, to a millionth at most.
    static func inSeconds(_ nanoseconds: Int64) -> String {
        let million = 1_000_000
        let (seconds, rest) = ((nanoseconds + 500) / 1000).quotientAndRemainder(dividingBy: Int64(million))
        var digits = String(String(million + Int(rest)).dropFirst())
        while digits.count > 1 && digits.hasSuffix("0") { digits.removeLast() }
        return "\(seconds).\(digits) seconds"
    }
}
#endif
