import RunLoopKit

/// A run serves the items of its mode, and nothing else. That is how a user interface keeps some work from disturbing it
/// while the user drags something: meanwhile it runs its loop in another mode.
enum Modes: Act {
    static let title = "Modes"
    static let shows = "While the loop runs in the tracking mode, a timer of the default mode stands still."

    static func perform(on stage: Stage) throws {
        let loop = RunLoop.current
        // From now on the common modes are the default mode and this one.
        loop.addCommonMode(.tracking)

        let ordinary = RunLoop.Timer(every: .milliseconds(20)) { timer in
            let missed = timer.missedTicks
            stage.tell("ordinary timer" + (missed > 0 ? ", which has missed \(missed) ticks" : ""))
        }
        try loop.add(ordinary, forMode: .default)
        defer { ordinary.invalidate() }

        var ticks = 0
        let common = RunLoop.Timer(every: .milliseconds(20)) { _ in
            ticks += 1
            stage.tell("common timer, tick \(ticks)")
            if ticks.isMultiple(of: 4) { loop.stop() }
        }
        try loop.add(common, forMode: .common)
        defer { common.invalidate() }

        stage.tell("run in the default mode")
        let first = loop.run(mode: .default, for: .seconds(20))
        stage.tell("run in the tracking mode")
        let second = loop.run(mode: .tracking, for: .seconds(20))
        // A limit of zero gives one iteration, which serves what is due and does not sleep.
        stage.tell("run in the default mode, one turn only")
        let third = loop.run(mode: .default, for: .zero)

        try stage.check(
            "two runs were stopped, and one had no time", [first, second, third], is: [.stopped, .stopped, .timedOut])
        let runs = try stage.parts(4, between: "run in").dropFirst()
        try stage.check(
            "in the default mode both timers ticked",
            runs[1].contains { $0.hasPrefix("ordinary") } && runs[1].last == "common timer, tick 4")
        try stage.check(
            "in the tracking mode only the common one did", runs[2], is: (5...8).map { "common timer, tick \($0)" })
        try stage.check(
            "back in the default mode the other went on: one tick, however many it had missed",
            runs[3].count { $0.hasPrefix("ordinary timer, which has missed") } == 1 && ordinary.missedTicks >= 3)
    }
}
