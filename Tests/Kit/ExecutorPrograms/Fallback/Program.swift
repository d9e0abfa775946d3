import Glibc
import RunLoopKit

/// With a runtime that does not take the executors of RunLoopKitSingleThread, which is linked.
@main struct Program {
    static func main() async throws {
        if CommandLine.arguments.contains("foreign") { return try await runForeignLoop() }
        if CommandLine.arguments.contains("nested") { return try await nestRun() }
        await Task.detached { print("tasks on the main loop: \(isOnMainLoop())") }.value
        try? await Task.sleep(for: .milliseconds(1))
        await MainActor.run { print("main actor on the main loop: \(isOnMainLoop())") }
    }
}

/// A run that is nested in a job of the main actor, while another job waits.
@MainActor private func nestRun() async throws {
    await Task.yield()
    let waiting = Task { @MainActor in print("the job that waited") }
    try RunLoop.main.add(RunLoop.Timer(every: .seconds(3600)) { _ in }, forMode: .default)
    runMainLoop(for: .milliseconds(1500))
    print("the nested run has ended")
    await waiting.value
}

/// A job of the main actor runs somebody else's loop, which serves nobody here, while jobs come from another thread.
@MainActor private func runForeignLoop() async throws {
    await Task.yield()
    let waiting = Task.detached { await MainActor.run { print("the job that waited") } }
    poll(nil, 0, 1200)
    print("the other loop has ended")
    await waiting.value
}

private func runMainLoop(for limit: Duration) { RunLoop.main.run(mode: .default, for: limit) }

private func isOnMainLoop() -> Bool { RunLoop.main.isCurrent }
