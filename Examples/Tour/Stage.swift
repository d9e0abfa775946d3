import RunLoopKit
import Synchronization

/// Reports to the audience what happens, and records it, so that an act can check its own story. Any thread.
final class Stage: Sendable {
    /// Something that happened.
    struct Note: Sendable {
        let time: Duration
        /// `nil` is the initial thread.
        let thread: String?
        let text: String
    }

    private let tells: Bool
    private let opening = RunLoop.Instant.now
    private let noted = Mutex<[Note]>([])
    private let mishaps = Mutex<[String]>([])

    /// One that does not tell only records.
    init(tells: Bool = true) { self.tells = tells }

    /// The time since the act began.
    var time: Duration { .now - opening }

    /// The events reported so far, in order.
    var notes: [Note] { noted.withLock { $0 } }

    /// The same, without times and threads.
    var story: [String] { notes.map(\.text) }

    /// Reports what has just happened on the calling thread.
    @discardableResult
    func tell(_ text: String) -> Duration {
        let thread = RunLoop.main.isCurrent ? nil : Thread.name ?? "pool thread"
        // Recorded and printed under one lock, so that both have the same order.
        return noted.withLock { noted in
            let note = Note(time: time, thread: thread, text: text)
            noted.append(note)
            let speaker = thread.map { "[\($0)] ".styled(.faint) } ?? ""
            if tells { Terminal.print(note.time.milliseconds.right(8) + " ms  " + speaker + text) }
            return note.time
        }
    }

    /// The time of the first event with these words.
    func time(of text: String) throws(Mishap) -> Duration {
        guard let note = notes.first(where: { $0.text == text }) else { throw Mishap("\"\(text)\" did not happen.") }
        return note.time
    }

    /// The story, split at the events that begin with these words.
    func parts(_ count: Int, between words: String) throws(Mishap) -> [[String]] {
        let parts = story.split(omittingEmptySubsequences: false) { $0.hasPrefix(words) }
        if parts.count != count { throw Mishap("\"\(words)…\" happened \(parts.count - 1) times.") }
        return parts.map(Array.init)
    }

    /// Reports a failure where nothing can be thrown, for instance in the closure of a source. Any thread.
    func report(_ error: any Error) {
        mishaps.withLock { $0.append("\(error)") }
        tell("mishap: \(error)")
        // The event that the act waits for will not happen now.
        RunLoop.main.stop()
    }

    /// A claim of the act, and its check.
    func check(_ claim: String, _ holds: Bool, _ otherwise: @autoclosure () -> String = "") throws(Mishap) {
        if !holds { throw Mishap("not so: \(claim). \(otherwise())") }
        Terminal.print("         ok  ".styled(.good) + claim)
    }

    /// A claim that exactly this happened.
    func check<Value: Equatable>(_ claim: String, _ seen: Value, is expected: Value) throws(Mishap) {
        try check(claim, seen == expected, "\n      seen: \(seen)\n  expected: \(expected)")
    }

    /// Blocks this thread until another thread has done something.
    func wait(for what: String, until holds: () -> Bool) throws(Mishap) {
        let deadline = RunLoop.Instant.now + .seconds(10)
        while !holds() {
            if .now > deadline { throw Mishap("waited in vain for: \(what).") }
            Thread.sleep(for: .milliseconds(1))
        }
    }

    /// Ends the act; a failure that was reported during it counts as the act's failure.
    func close() throws(Mishap) {
        if let mishap = mishaps.withLock({ $0.first }) { throw Mishap(mishap) }
    }
}

/// An expectation that was not met.
struct Mishap: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
