import RunLoopKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An HTTP server with one loop per core. Each loop has a listening socket of its own on the same port, and the kernel spreads the
/// connections over them; a loop that has got too many hands the next ones over to the loop that has the fewest.
///
///     swift run -c release scale-out 8080       and then, in another terminal:   curl localhost:8080 localhost:8080/counters
///
/// It shows how to use several cores without sharing: an actor for each loop, whose connections, tasks and counters are touched by one
/// thread only; SO_REUSEPORT; messages between loops by ports, which are bounded; descriptors that change hands; and an end by a signal
/// that lets every request finish.
///
/// Start reading at Worker.swift.
@main
struct ScaleOut {
    /// Synchronous, so that it keeps the initial thread and can run the main loop.
    @MainActor static func main() {
        // An answer, and no error.
        if CommandLine.arguments.dropFirst() == ["--help"] { return print(Options.usage) }
        do {
            let server = try Server(Options(CommandLine.arguments.dropFirst()))
            try server.run()
        } catch let refusal as Refusal {
            complain("scale-out: \(refusal)\n\(Options.usage)")
            exit(2)
        } catch {
            complain("scale-out: \(error)")
            exit(1)
        }
    }
}

/// Writes a line to standard error.
func complain(_ line: String) { _ = write(STDERR_FILENO, line + "\n", line.utf8.count + 1) }

/// Writes a line to standard output, at once.
func report(_ line: String) { _ = write(STDOUT_FILENO, line + "\n", line.utf8.count + 1) }
