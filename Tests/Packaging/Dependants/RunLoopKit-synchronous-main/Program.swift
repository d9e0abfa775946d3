import Dispatch
import Glibc
import RunLoopKit

/// With a synchronous main, `RunLoop.main.run()` serves everything that must run on the initial thread.
@main struct Program {
    static func main() throws {
        let place = Place()
        place.check("main")
        DispatchQueue.main.async { place.check("the main queue") }
        DispatchQueue.global().async {
            DispatchQueue.main.sync { place.check("the main queue, from elsewhere") }
        }
        try RunLoop.main.add(RunLoop.Timer(after: .zero) { _ in place.check("a timer") }, forMode: .common)
        RunLoop.main.perform { place.check("a performed closure") }
        let source = RunLoop.Source { place.check("a source") }
        try RunLoop.main.add(source, forMode: .common)
        source.signal()
        Task { @MainActor in
            place.check("the main actor")
            try? await Task.sleep(for: .milliseconds(1))
            place.check("the main actor, after a sleep")
            await Task.detached {}.value
            place.check("the main actor, back from the pool")
            MainActor.preconditionIsolated()
        }
        let deadline = RunLoop.Instant.now + .seconds(60)
        precondition(
            RunLoop.main.run(until: { place.count == 9 }, deadline: deadline),
            "Only \(place.count) of 9 were served.")
    }
}

/// Checks the thread of each part, and counts the parts.
private final class Place: @unchecked Sendable {
    private let initialThread = pthread_self()
    /// Only the initial thread changes it: on another one the program has ended first.
    private(set) var count = 0

    func check(_ what: String) {
        precondition(pthread_equal(pthread_self(), initialThread) != 0, "\(what) is not on the initial thread.")
        count += 1
    }
}
