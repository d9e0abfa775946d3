import Dispatch
import RunLoopKit

import class RunLoopKit.RunLoop

/// How long it takes from the call on another thread to the closure on the main thread.
enum Latency {
    private static let count = 1000

    static func measure() async {
        await Task.detached {
            var actor: [Duration] = []
            for _ in 0..<count {
                try! await Task.sleep(for: .milliseconds(2))
                let begin = RunLoop.Instant.now
                actor.append(await MainActor.run { .now - begin })
            }
            show("MainActor.run", actor)
            var queue: [Duration] = []
            for _ in 0..<count {
                try! await Task.sleep(for: .milliseconds(2))
                queue.append(await throughQueue())
            }
            show("DispatchQueue.main", queue)
        }.value
    }

    private static func throughQueue() async -> Duration {
        let begin = RunLoop.Instant.now
        return await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume(returning: .now - begin) }
        }
    }

    private static func show(_ name: String, _ durations: [Duration]) {
        let sorted = durations.sorted()
        let microseconds = [50, 99].map { sorted[count * $0 / 100] / .microseconds(1) }
        print("\(name) \(microseconds.map { String(Int($0.rounded())) }.joined(separator: " "))")
    }
}
