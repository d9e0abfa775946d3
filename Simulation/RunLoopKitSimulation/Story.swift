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
        case resumed(UInt32, CodePlace?, name: String?)
        /// A task is cancelled, by a call.
        case cancels(UInt32)
        case cancelsGroup
        /// A task was cancelled, for instance since its parent was.
        case cancelled(UInt32)
        /// An error was thrown.
        case threw(String)
        /// The task has ended.
        case returned
        case failed(String)
        /// What a thread did by a call of libc's: "posts a semaphore".
        case did(String)
        case sent(runloop__sent, what: UInt?, to: String)
        case noted(String)
        case trapped(RunLoop.Simulation.Trap)
        case leaked(RunLoop.Simulation.LeakedContinuation)
        /// On the way between two ends.
        case link(String)
    }

    private var steps = StorySteps()
    private let start: Int64
    /// What is looked up once.
    private var places: [CodePlace: String] = [:]
    private var callers: [String: String] = [:]

    init(startingAt start: Int64) {
        self.start = start
    }

    /// The name of a job that lets its task go on.
    static let endOfYield = "the end of a yield"

    /// In words, with what happens again and again in one line.
    var lines: [String] { steps.folded(since: start) }

    /// Does the environment ask for each line as it happens? For runs that end the process.
    static let isPrinted = unsafe getenv("RUNLOOP_SIMULATION_STORY") != nil

    private func append(_ now: Int64, _ text: String, _ kind: StorySteps.Kind = .other) {
        steps.append(now, text, kind)
        if !Self.isPrinted { return }
        let line = "\(Nanoseconds.inSeconds(now - start)) \(text)\n"
        _ = unsafe line.withCString { unsafe write(STDERR_FILENO, $0, strlen($0)) }
    }

    func add(_ event: Event, by who: String, at now: Int64, number: (UInt32) -> Int) {
        switch event {
        case .turn: append(now, "\(who) goes on", .turn)
        case .job(let place): append(now, "\(who) runs \(place.map(full) ?? "on")", .runs)
        case .resumed(let task, let place, let name):
            if task == 0 { return add(now, who, name == Self.endOfYield ? "yields" : "wakes \(name ?? "an actor")") }
            add(now, who, "wakes task \(number(task))\(place.map { ", to run \(full($0))" } ?? "")")
        case .cancels(let task): add(now, who, "cancels task \(number(task))")
        case .cancelsGroup: add(now, who, "cancels a group")
        case .cancelled(let task): append(now, "\(who) has cancelled task \(number(task))")
        case .threw(let error): addThrow(now, "\(who) throws \(error)")
        case .returned: append(now, "\(who) returns")
        case .failed(let error): append(now, "\(who) ends with \(error)")
        case .sent(let kind, let what, let loop):
            guard let caller = CodePlace.ofCaller else { return }
            switch kind {
            case RUNLOOP__SENT_TASK:
                let function = what.flatMap { CodePlace(function: $0) }.map { " \(full($0))" } ?? " a function"
                append(now, "\(who) sends\(function) to loop \(loop), at \(caller.line)")
            case RUNLOOP__SENT_STOP: append(now, "\(who) stops loop \(loop), at \(caller.line)")
            default: append(now, "\(who) wakes loop \(loop), at \(caller.line)")
            }
        case .link(let text): append(now, "a link \(text)")
        case .did(let what): add(now, who, what)
        case .noted(let text): append(now, "\(who) notes: \(text)")
        case .trapped(let trap): append(now, "\(who) \(trap.happened)")
        case .leaked(let leak): append(now, "\(who) \(leak.happened)")
        }
    }

    /// At the line of the caller. In a story that is long already, this is the line at which the same was last done.
    private func add(_ now: Int64, _ who: String, _ what: String) {
        let text = "\(who) \(what)"
        if steps.count > Self.mostLookedUp, let known = callers[text] { return append(now, known) }
        let whole = "\(text)\(CodePlace.ofCaller.map { ", at \($0.line)" } ?? "")"
        callers[text] = whole
        append(now, whole)
    }

    /// The runtime throws what it has caught again, elsewhere.
    private func addThrow(_ now: Int64, _ text: String) {
        if steps.lastText == text { return }
        append(now, "\(text)\(CodePlace.ofCaller.map { ", at \($0.line)" } ?? "")")
    }

    /// A look at the calls takes longer than the step of most programs.
    private static let mostLookedUp = 10_000

    private func full(_ place: CodePlace) -> String {
        if let known = places[place] { return known }
        places[place] = place.full
        return places[place] ?? ""
    }
}

extension Nanoseconds {
    /// "10826.779 seconds": a person counts in decimals, to a millionth at most.
    static func inSeconds(_ nanoseconds: Int64) -> String { "\(seconds(nanoseconds)) seconds" }

    static func seconds(_ nanoseconds: Int64) -> String {
        let million = 1_000_000
        let (seconds, rest) = ((nanoseconds + 500) / 1000).quotientAndRemainder(dividingBy: Int64(million))
        var digits = String(String(million + Int(rest)).dropFirst())
        while digits.count > 1 && digits.hasSuffix("0") { digits.removeLast() }
        return "\(seconds).\(digits)"
    }
}
#endif
