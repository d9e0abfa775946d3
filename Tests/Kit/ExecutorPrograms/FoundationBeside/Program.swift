import Foundation
import RunLoopKit

import class RunLoopKit.RunLoop

private typealias FoundationLoop = Foundation.RunLoop

/// The main actor on the main dispatch queue, which Foundation's loop serves, and a run of ours in a mode of its own beside it.
@main struct Program {
    @MainActor private static var hasGoneOn = false

    static func main() {
        let mode = RunLoop.Mode("private")
        let ticks = RunLoop.main.ticks(every: .milliseconds(1), inMode: mode)
        Task { @MainActor in
            for await _ in ticks { break }
            hasGoneOn = true
        }
        // It waits for a tick, of which there are many then; if it does not wait yet, it has not far to go.
        FoundationLoop.main.run(until: Date() + 0.01)
        RunLoop.main.run(mode: mode, for: .milliseconds(100))
        let limit = Date() + 60
        while !hasGoneOn && Date() < limit { FoundationLoop.main.run(until: Date() + 0.01) }
        precondition(hasGoneOn, "What the run resumed was kept for a run of a common mode, which may never come.")
        print("beside: done")
    }
}
