// A call on another thread, whose error has the type of the closure's.
import RunLoopKit
import RunLoopKitLinux

func call(_ loops: [RunLoop]) async throws {
    for loop in loops {
        do {
            try await loop.performAndWait { print("called") }
        } catch RunLoop.CallError<Never>.closed {
            continue
        }
    }
}
