import Dispatch
import Glibc
import RunLoopKit

// Code at top level that awaits: the main loop serves the initial thread.
let initialThread = pthread_self()

func check(_ what: String) {
    precondition(pthread_equal(pthread_self(), initialThread) != 0, "\(what) is not on the initial thread.")
}

try await Task.sleep(for: .milliseconds(1))
check("the code after a sleep")
await MainActor.run {
    check("the main actor")
    precondition(RunLoop.main.isCurrent, "The main actor is not on the main loop's thread.")
}
await withCheckedContinuation { continuation in
    DispatchQueue.main.async {
        MainActor.assumeIsolated { check("the main queue") }
        continuation.resume()
    }
}
for await _ in RunLoop.main.ticks(every: .milliseconds(1)) { break }
check("the code after a tick of the main loop")
