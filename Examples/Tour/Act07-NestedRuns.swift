import RunLoopKit

/// A call-out may run the loop again, in the same mode or another. A modal dialogue works like that: the call returns with
/// the answer, and until then the loop serves the dialogue.
enum NestedRuns: Act {
    static let title = "Nested runs"
    static let shows = "A modal session inside of a callback, with all four results that a run can have."

    nonisolated static let modal: RunLoop.Mode = "ModalSession"

    static func perform(on stage: Stage) throws {
        let loop = RunLoop.current
        let document = RunLoop.Timer(every: .milliseconds(25)) { _ in stage.tell("timer of the document") }
        try loop.add(document, forMode: .default)
        defer { document.invalidate() }

        loop.perform(after: .milliseconds(60)) {
            stage.tell("the session begins")
            do { try session(loop, stage) } catch { stage.report(error) }
            stage.tell("the session ends")
            // The outer run continues: the stop ended only the session's run.
            loop.perform(after: .milliseconds(60)) { loop.stop() }
        }
        let result = loop.run(mode: .default, for: .seconds(20))
        stage.tell("the outer run: \(result) (\(result.rawValue))")

        let parts = try stage.parts(3, between: "the session")
        try stage.check(
            "the four results", parts[1].filter { $0.hasPrefix("run ") },
            is: [
                "run with a limit: timedOut (3)", "run until a source is handled: handledSource (4)",
                "run until somebody stops it: stopped (2)", "run with nothing to do: finished (1)",
            ])
        try stage.check(
            "only the dialogue's timer ticked meanwhile",
            parts[1].contains("timer of the dialogue") && !parts[1].contains("timer of the document"))
        try stage.check(
            "the outer run was untouched: its timer went on, and it had a stop of its own",
            parts[2].contains("timer of the document") && parts[2].last == "the outer run: stopped (2)")
    }

    nonisolated private static func session(_ loop: RunLoop, _ stage: Stage) throws {
        func run(_ what: String, for limit: Duration = .seconds(10), returnAfterSourceHandled: Bool = false) {
            let result = loop.run(mode: modal, for: limit, returnAfterSourceHandled: returnAfterSourceHandled)
            stage.tell("run \(what): \(result) (\(result.rawValue))")
        }

        let dialogue = RunLoop.Timer(every: .milliseconds(20)) { _ in stage.tell("timer of the dialogue") }
        try loop.add(dialogue, forMode: modal)
        defer { dialogue.invalidate() }
        let began = stage.time
        run("with a limit", for: .milliseconds(50))
        if stage.time - began < .milliseconds(50) { throw Mishap("The limit was over early.") }

        let button = RunLoop.Source { stage.tell("the button performs") }
        try loop.add(button, forMode: modal)
        defer { button.invalidate() }
        button.signal()
        run("until a source is handled", returnAfterSourceHandled: true)

        let elsewhere = Thread("elsewhere") {
            // A stop ends the innermost run, so the session's run must have begun.
            do throws(Mishap) {
                try stage.wait(for: "the session to run") { loop.currentMode == modal }
            } catch {
                stage.report(error)
            }
            Thread.sleep(for: .milliseconds(50))
            stage.tell("stops the innermost run")
            loop.stop()
        }
        run("until somebody stops it")
        elsewhere.join()

        // The dialogue is closed. The mode is empty, so there is no run at all.
        dialogue.invalidate()
        button.invalidate()
        run("with nothing to do")
    }
}
