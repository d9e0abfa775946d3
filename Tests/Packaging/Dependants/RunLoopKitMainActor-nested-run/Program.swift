import Dispatch
import RunLoopKit

/// An async main: the main actor is on the main loop from the beginning, and goes on in nested runs.
@main struct Program {
    static func main() async throws {
        precondition(isOnMainLoop(), "main is not on the main loop's thread.")
        try await Task.sleep(for: .milliseconds(1))
        precondition(isOnMainLoop(), "main has left the main loop's thread.")
        await Task.detached { precondition(!isOnMainLoop(), "The pool is on the main loop's thread.") }.value
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                precondition(isOnMainLoop(), "The main queue is not on the main loop's thread.")
                RunLoop.main.stop()
                continuation.resume()
            }
        }
        let job = Task { @MainActor in hasRun = true }
        nest()
        await job.value
        precondition(isOnMainLoop(), "A stop of the loop has ended more than nested runs.")
    }
}

@MainActor private var hasRun = false

private func isOnMainLoop() -> Bool { RunLoop.main.isCurrent }

@MainActor private func nest() {
    let deadline = RunLoop.Instant.now + .seconds(60)
    let held = RunLoop.main.run(until: { MainActor.assumeIsolated { hasRun } }, deadline: deadline)
    precondition(held, "A run nested in a job of the main actor did not run the other one.")
}
