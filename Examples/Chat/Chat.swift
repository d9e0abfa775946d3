import RunLoopKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A chat server on one thread: lines of text from each client go to all others.
///
///     swift run chat 7777            and then, in other terminals:   nc 127.0.0.1 7777
///
/// It shows how to build a server on a loop: a listener and its connections, a task for each client on the main actor, bounded memory for
/// each, timers with tolerance for idle clients, work that is done once per iteration, an orderly end by a signal, and a separate mode for
/// the goodbye, which lasts until every client has received it.
///
/// Start reading at Server.swift.
@main
struct Chat {
    /// Synchronous, so that it keeps the initial thread and can run the main loop.
    @MainActor static func main() {
        // An answer, and no error.
        if CommandLine.arguments.dropFirst() == ["--help"] { return print(Options.usage) }
        do {
            let server = try Server(Options(CommandLine.arguments.dropFirst()))
            try server.run()
        } catch let refusal as Refusal {
            Log.standard.complain("chat: \(refusal)\n\(Options.usage)")
            exit(2)
        } catch {
            Log.standard.complain("chat: \(error)")
            exit(1)
        }
    }
}
