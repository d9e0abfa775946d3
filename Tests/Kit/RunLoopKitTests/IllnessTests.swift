import ForkedChild
import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

/// Programs with an illness, each with a watchdog: what comes to standard error says what is wrong, and names a function or a line of the author's.
@Suite struct IllnessTests {
    /// What is said, and where it points to. The lines are those of Ill/Program.swift.
    private static let illnesses: [(String, [String])] = [
        ("blocked main actor", ["has not come back for", "showAnswer", " at Program.swift:"]),
        ("starved main queue", ["whatever is behind the one under way", "showDialog", " at Program.swift:"]),
        ("task that never suspends", ["has not come back for", "findPrimes", " at Program.swift:"]),
        ("deaf signal", ["something else has set its handling", "/ill-program, and what waits for it"]),
        ("full pipe of a child", ["(head) can't go on: its descriptor 1 is a pipe that is full"]),
        (
            "descriptor closed under its source",
            ["was closed while the source “ill_program/Program.swift:", "” watched it"]
        ),
        (
            "timer on a Dispatch thread",
            ["added the timer “ill_program/Program.swift:", "that nobody has run since"]
        ),
    ]

    @Test(
        "What is written of an illness names the author's function, line or program",
        .disabled(if: isUnderThreadSanitizer, "This sanitizer delays signals, so a stack is read too late."),
        arguments: illnesses)
    func named(illness: String, words: [String]) async throws {
        let thread = try RunLoop.Thread(name: "illness")
        let program = try #require(pathOfProgram("ill-program"))
        let child = try RunLoop.Child.start([program, illness], output: .null, error: .pipe, on: thread.loop)
        var text = ""
        for try await line in child.error.lines() where !words.allSatisfy(text.contains) {
            text += line + "\n"
            // On a busy machine it may have ended by itself.
            if words.allSatisfy(text.contains) { try? child.send(SIGKILL) }
        }
        for word in words { #expect(text.contains(word), "\(text)") }
        _ = try await child.exit()
        thread.stop()
    }
}
