import RunLoopKit
import Synchronization

/// Tells the audience what happens, and remembers it, so that an act can check its own story. Any thread.
final class Stage: Sendable {
    /// Something that happened.
    struct Note: Sendable {
        let time: Duration
        /// `nil` is the initial thread.
        let thread: String?
        let text: String
    }

    private let opening = RunLoop.Instant.now
    private let noted = Mutex<[Note]>([])
    private let mishaps = Mutex<[String]>([])

    /// The time since the act began.
    var time: Duration { .now - opening }

    /// What was told so far, in order.
    var notes: [Note] { noted.withLock { $0 } }

    /// The same, only the words.
    var story: [String] { notes.map(\.text) }

    /// Tells what has just happened, on whichever thread it did.
    @discardableResult
    func tell(_ text: String) -> Duration {
        let thread = RunLoop.main.isCurrent ? nil : Thread.name ?? "pool thread"
        // Noted and printed under one lock, so that the log has the order of the story.
        return noted.withLock { noted in
            let note = Note(time: time, thread: thread, text: text)
            noted.append(note)
            let speaker = thread.map { "[\($0)] ".styled(.faint) } ?? ""
            Terminal.print(note.time.milliseconds.right(8) + " ms  " + speaker + text)
            return note.time
        }
    }

    /// When something with these words happened first.
    func time(of text: String) throws(Mishap) -> Duration {
        guard let note = notes.first(where: { $0.text == text }) else { throw Mishap("\"\(text)\" did not happen.") }
        return note.time
    }

    /// The story before, between and after what begins with these words.
    func parts(_ count: Int, between words: String) throws(Mishap) -> [[String]] {
        let parts = story.split(omittingEmptySubsequences: false) { $0.hasPrefix(words) }
        if parts.count != count { throw Mishap("\"\(words)…\" happened \(parts.count - 1) times.") }
        return parts.map(Array.init)
    }

    /// Says that something went wrong where nothing can be thrown, in the closure of a source for instance. Any thread.
    func report(_ error: any Error) {
        mishaps.withLock { $0.append("\(error)") }
        tell("mishap: \(error)")
        // What the act waits for is not going to happen now.
        RunLoop.main.stop()
    }

    /// A claim of the act, and the proof.
    func check(_ claim: String, _ holds: Bool, _ otherwise: @autoclosure () -> String = "") throws(Mishap) {
        if !holds { throw Mishap("not so: \(claim). \(otherwise())") }
        Terminal.print("         ok  ".styled(.good) + claim)
    }

    /// A claim that what happened is exactly this.
    func check<Value: Equatable>(_ claim: String, _ seen: Value, is expected: Value) throws(Mishap) {
        try check(claim, seen == expected, "\n      seen: \(seen)\n  expected: \(expected)")
    }

    /// Waits for something that another thread does, while this thread does nothing else.
    func wait(for what: String, until holds: () -> Bool) throws(Mishap) {
        let deadline = RunLoop.Instant.now + .seconds(10)
        while !holds() {
            if .now > deadline { throw Mishap("waited in vain for: \(what).") }
            Thread.sleep(for: .milliseconds(1))
        }
    }

    /// The act is over; what was reported during it counts as its failure.
    func close() throws(Mishap) {
        if let mishap = mishaps.withLock({ $0.first }) { throw Mishap(mishap) }
    }
}

/// What did not happen, or should not have.
struct Mishap: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
