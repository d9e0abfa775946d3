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
/// It shows how a server is made of a loop: a source for each client, which asks for room only while output waits, bounded
/// memory for each client, timers with tolerance for who is idle, work that is done once an iteration, signals as sources,
/// and a mode of its own for the goodbye, whose run is finished when everybody has got it.
///
/// Server.swift is the place to begin.
@main
struct Chat {
    /// Synchronous, so that the initial thread stays ours and can run the main loop.
    @MainActor static func main() {
        do {
            let server = try Server(Options(CommandLine.arguments.dropFirst()))
            Log.print("chat: listens on port \(server.port)")
            try server.run()
        } catch let refusal as Refusal {
            Log.complain("chat: \(refusal)\n\(Options.usage)")
            exit(2)
        } catch {
            Log.complain("chat: \(error)")
            exit(1)
        }
    }
}
