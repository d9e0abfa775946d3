import Dispatch
import RunLoopKit

/// An async main that was not taken over behaves as without this package, whatever was done to the main loop before.
@main struct Program {
    static func main() async throws {
        precondition(currentLoopIsMain(), "Before the first await this is the initial thread.")
        try RunLoop.main.add(RunLoop.Timer(every: .milliseconds(1)) { _ in }, forMode: .common)
        pollOnce()
        try await Task.sleep(for: .milliseconds(1))
        await MainActor.run { MainActor.preconditionIsolated() }
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume() }
        }
        await Task { @MainActor in await Task.yield() }.value
        let thread = try RunLoop.Thread()
        await withCheckedContinuation { continuation in
            thread.perform { continuation.resume() }
        }
        // Another thread may not run the main loop, but it may read its properties.
        precondition(!RunLoop.main.isWaiting, "No thread runs the main loop.")
    }
}

private func currentLoopIsMain() -> Bool { RunLoop.current === RunLoop.main }
private func pollOnce() { RunLoop.main.run(mode: .default, for: .zero) }
