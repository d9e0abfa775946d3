import RunLoopKit

/// A source that is signalled by hand separates two decisions: *that* there is work (`signal`, which costs next to
/// nothing) and *when* the loop should look (`wakeUp`). Signal many sources, wake the loop once.
enum SignalledSources: Act {
    static let title = "Signalled sources"
    static let shows =
        "Sources signalled by another thread wait for the loop to be woken, then perform once each, in order."

    static func perform(on stage: Stage) throws {
        let loop = RunLoop.current
        // They perform by order, not by the time of their signals. Nobody signals the one of order 0.
        let sources = (0...3).map { order in
            RunLoop.Source(order: order) {
                stage.tell("source \(order) performs")
                if order == 3 { loop.stop() }
            }
        }
        for source in sources { try loop.add(source, forMode: .default) }
        defer { for source in sources { source.invalidate() } }

        let signaller = Thread("signaller") {
            do throws(Mishap) {
                // A loop that is about to sleep checks once more and would see the signals. So wait until it is asleep.
                try stage.wait(for: "the loop to sleep") { loop.isWaiting }
                Thread.sleep(for: .milliseconds(60))
            } catch {
                stage.report(error)
            }
            for order in [3, 2, 2, 2, 1] {
                sources[order].signal()
                stage.tell("signals source \(order)")
            }
            Thread.sleep(for: .milliseconds(60))
            stage.tell(loop.isWaiting ? "sees the loop asleep" : "sees the loop awake")
            stage.tell("wakes the loop")
            loop.wakeUp()
        }
        let result = loop.run(mode: .default, for: .seconds(20))
        signaller.join()

        try stage.check("the run was stopped by the last source", result, is: .stopped)
        let asleep = stage.story.prefix { $0 != "wakes the loop" }
        try stage.check(
            "nothing performed before the loop was woken", Array(asleep),
            is: [3, 2, 2, 2, 1].map { "signals source \($0)" } + ["sees the loop asleep"])
        try stage.check(
            "then each signalled source performed once, the lower order first",
            stage.notes.filter { $0.thread == nil }.map(\.text), is: (1...3).map { "source \($0) performs" })
    }
}
