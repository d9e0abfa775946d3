import RunLoopKit

/// A loop is a thread that sleeps until there is something to do. An observer is notified of each step.
enum Activities: Act {
    static let title = "Activities"
    static let shows = "The steps of a loop that serves one repeating timer and sleeps in between."

    static func perform(on stage: Stage) throws {
        let loop = RunLoop.current

        let observer = RunLoop.Observer(.all) { _, activity in
            stage.tell(activity.name)
        }
        try loop.add(observer, forMode: .default)
        defer { observer.invalidate() }

        // The closure and its captures are sent to the loop, so it may have a variable of its own.
        var ticks = 0
        let timer = RunLoop.Timer(every: .milliseconds(40)) { timer in
            ticks += 1
            stage.tell("tick \(ticks)")
            if ticks == 3 {
                timer.invalidate()
                // The main loop is never empty, since it also serves the main dispatch queue. So it has to be stopped.
                loop.stop()
            }
        }
        try loop.add(timer, forMode: .default)

        let result = loop.run(mode: .default, for: .seconds(20))

        let turn = ["before timers", "before sources", "before waiting", "after waiting"]
        try stage.check(
            "each iteration announces timers, sources, sleep and waking, and then serves what woke it", stage.story,
            is: ["entry"] + turn + ["tick 1"] + turn + ["tick 2"] + turn + ["tick 3"] + ["exit"])
        try stage.check("the run ended because it was stopped", result, is: .stopped)
        let times = try (1...3).map { try stage.time(of: "tick \($0)") }
        try stage.check(
            "no tick came before its time", zip(1..., times).allSatisfy { $1 >= .milliseconds(40 * $0) }, "\(times)")
    }
}

extension RunLoop.Observer.Activities {
    /// The name of a single activity.
    var name: String {
        switch self {
        case .entry: "entry"
        case .beforeTimers: "before timers"
        case .beforeSources: "before sources"
        case .beforeWaiting: "before waiting"
        case .afterWaiting: "after waiting"
        case .exit: "exit"
        default: "activities \(rawValue)"
        }
    }
}
