import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Keeps a program running: when it ends it is started again, after a pause that doubles each time. What it prints is printed
/// with the number of its process before each line.
///
///     swift run supervise 0.1 5 sh -c 'echo hello; sleep 1; exit 1'
///
/// The first number is the shortest pause, in seconds, and the second one the longest. A run that is longer than that makes the next
/// pause short again. SIGTERM and Control-C end the program, and all that it has started: politely, and after three seconds not.
///
/// Start reading at Supervisor.swift.
@main
struct Supervise {
    static let usage = "usage: supervise SHORTEST LONGEST PROGRAM [ARGUMENT ...]"

    /// Synchronous, so that it keeps the initial thread and can run the main loop.
    @MainActor static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // An answer, and no error.
        if arguments == ["--help"] { return Message.print(usage) }
        guard arguments.count > 2, let shortest = Double(arguments[0]), let longest = Double(arguments[1]),
            shortest > 0, longest >= shortest, longest < 1e9
        else {
            Message.complain(usage)
            exit(2)
        }
        let supervisor = Supervisor(Array(arguments[2...]), .seconds(shortest), .seconds(longest))
        let supervision = Task { @MainActor in
            defer { RunLoop.main.stop() }
            do {
                try await supervisor.run()
            } catch {
                Message.complain("supervise: \(error)")
                exit(1)
            }
        }
        do {
            for signal in [SIGTERM, SIGINT] {
                try RunLoop.main.add(RunLoop.Source(signal: signal) { _ in supervision.cancel() }, forMode: .common)
            }
        } catch {
            Message.complain("supervise: \(error)")
            exit(1)
        }
        RunLoop.main.run()
    }
}

/// A line at once, also into a pipe: on standard output, or of an error.
enum Message {
    static func print(_ text: String) { put(text, STDOUT_FILENO) }
    static func complain(_ text: String) { put(text, STDERR_FILENO) }

    private static func put(_ text: String, _ descriptor: CInt) {
        let line = text + "\n"
        _ = write(descriptor, line, line.utf8.count)
    }
}
