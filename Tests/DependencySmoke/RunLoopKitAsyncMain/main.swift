import RunLoopKit
import RunLoopKitAsyncMain

RunLoop.takeOverAsyncMain()
try await Task.sleep(for: .milliseconds(1))
await MainActor.run { precondition(RunLoop.main.isCurrent, "The main actor is not on the main loop's thread.") }
