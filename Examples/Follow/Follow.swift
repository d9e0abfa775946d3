import RunLoopKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Prints what is appended to files, as `tail -F` does: even after they were truncated, renamed, or deleted and created again,
/// and if they do not exist yet. In a directory it follows every file.
///
///     swift run follow -n 10 /var/log/syslog /tmp/app
///
/// It shows how a loop turns many small events into little work: the changes that it receives only mark files, and
/// every marked file is checked once before the loop sleeps. And it never blocks: if the reader of its output is slow, what
/// it does not take waits in a writer, and no more is read from the files meanwhile.
///
/// Start reading at Follower.swift.
@main
struct Follow {
    /// Synchronous, so that it keeps the initial thread and can run the main loop.
    @MainActor static func main() {
        // An answer, and no error.
        if CommandLine.arguments.dropFirst() == ["--help"] { return print(Options.usage) }
        do {
            let follower = try Follower(Options(CommandLine.arguments.dropFirst()))
            try follower.run()
        } catch let refusal as Refusal {
            Message.print("\(refusal)\n\(Options.usage)")
            exit(2)
        } catch {
            Message.print("\(error)")
            exit(1)
        }
    }
}
