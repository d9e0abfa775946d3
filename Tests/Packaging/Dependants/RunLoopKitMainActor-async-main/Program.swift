import Dispatch
import Glibc
import RunLoopKit

/// With an async main, the same as with a synchronous one.
@main struct Program {
    static func main() async throws {
        let place = Place()
        try await Task.sleep(for: .milliseconds(1))
        place.check("main, after a sleep")
        await Task.detached {}.value
        place.check("main, back from the pool")
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                DispatchQueue.main.async {
                    place.check("the main queue")
                    continuation.resume()
                }
            }
        }
        let source = RunLoop.Source { place.check("a source") }
        try RunLoop.main.add(source, forMode: .common)
        await withCheckedContinuation { continuation in
            let timer = RunLoop.Timer(after: .zero) { _ in
                place.check("a timer")
                source.signal(waking: RunLoop.main)
                RunLoop.main.perform { continuation.resume() }
            }
            try! RunLoop.main.add(timer, forMode: .common)
        }
        try await Task.sleep(for: .milliseconds(1))
        precondition(place.count == 5, "Only \(place.count) of 5 were served.")
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
