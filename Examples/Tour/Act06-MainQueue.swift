import Dispatch
import RunLoopKit

/// A run of the main loop serves the main dispatch queue, and with it the main actor. A program that runs this loop can use
/// both, and everything that the main loop calls is already on the main actor.
enum MainQueue: Act {
    static let title = "Main queue and actor"
    static let shows =
        "Blocks of the main dispatch queue, a task of the main actor and a timer take turns on this thread."

    static func perform(on stage: Stage) throws {
        // Isolated to the main actor, so it needs no lock: the compiler rejects any other access.
        let diary = Diary(stage)

        DispatchQueue.main.async { MainActor.assumeIsolated { diary.enter("block") } }

        let timer = RunLoop.Timer(every: .milliseconds(25)) { _ in
            // The main loop calls this on the initial thread, so the code may assume the isolation.
            MainActor.assumeIsolated { diary.enter("timer") }
        }
        try RunLoop.main.add(timer, forMode: .default)
        defer { timer.invalidate() }

        Task { @MainActor in
            for step in 1...3 {
                try? await Task.sleep(for: .milliseconds(30))
                diary.enter("task, step \(step)")
            }
            let sum = await Task.detached { (1...1000).reduce(0, +) }.value
            diary.enter("task, back with \(sum)")

            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    stage.tell("calls the main queue, and waits")
                    DispatchQueue.main.sync {
                        MainActor.assumeIsolated { diary.enter("block for which a thread waits") }
                    }
                    continuation.resume()
                }
            }
            RunLoop.main.stop()
        }

        let result = RunLoop.main.run(mode: .default, for: .seconds(20))

        try stage.check("the task stopped the run", result, is: .stopped)
        try stage.check(
            "the task took its steps in order, between blocks of the queue", diary.entries.filter { $0 != "timer" },
            is: ["block"] + (1...3).map { "task, step \($0)" }
                + ["task, back with 500500", "block for which a thread waits"])
        let times = try (1...3).map { try stage.time(of: "task, step \($0)") }
        try stage.check(
            "it slept no less than it asked for", zip(1..., times).allSatisfy { $1 >= .milliseconds(30 * $0) },
            "\(times)")
        try stage.check("the timer had its turns", diary.entries.contains("timer"))
        try stage.check(
            "all of that on the initial thread",
            stage.notes.filter { $0.thread == nil }.map(\.text), is: diary.entries)
    }
}

/// What has happened on the main actor.
@MainActor final class Diary {
    private(set) var entries: [String] = []
    private let stage: Stage

    init(_ stage: Stage) {
        self.stage = stage
    }

    func enter(_ text: String) {
        entries.append(text)
        stage.tell(text)
    }
}
