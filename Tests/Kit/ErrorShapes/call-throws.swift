// A call on another thread, of a closure that throws.
import RunLoopKit
import RunLoopKitLinux

func callThrows(_ thread: RunLoop.Thread, _ items: [RunLoop.Item]) async throws {
    for item in items {
        do {
            try await thread.performAndWait { try RunLoop.current.add(item, forMode: .common) }
        } catch RunLoop.Error.inAnotherLoop, RunLoop.Error.invalid {
            item.invalidate()
        }
    }
}
