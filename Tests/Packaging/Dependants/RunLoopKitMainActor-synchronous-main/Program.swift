import Dispatch
import RunLoopKit

/// A synchronous main: the main actor is on the main loop, in nested runs, too.
@main struct Program {
    static func main() throws {
        try RunLoop.main.add(
            RunLoop.Timer(after: .zero) { _ in MainActor.assumeIsolated { _ = served.insert("timer") } },
            forMode: .common)
        Task { @MainActor in
            precondition(RunLoop.main.isCurrent, "The main actor is not on the main loop's thread.")
            MainActor.preconditionIsolated()
            Task { @MainActor in served.insert("job in a nested run") }
            DispatchQueue.main.async { MainActor.assumeIsolated { _ = served.insert("block in a nested run") } }
            nest(until: 3)
            try? await Task.sleep(for: .milliseconds(1))
            precondition(RunLoop.main.isCurrent, "The main actor has left the main loop's thread.")
            await Task.detached { await MainActor.run { _ = served.insert("job from the pool") } }.value
            RunLoop.main.stop()
        }
        RunLoop.main.run()
        MainActor.assumeIsolated { precondition(served.count == 4, "Only \(served) were served.") }
    }
}

@MainActor private var served: Set<String> = []

@MainActor private func nest(until count: Int) {
    let deadline = RunLoop.Instant.now + .seconds(60)
    let held = RunLoop.main.run(until: { MainActor.assumeIsolated { served.count == count } }, deadline: deadline)
    precondition(held, "In the nested run only \(served) were served.")
}
