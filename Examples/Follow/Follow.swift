import RunLoopKit

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Prints what is appended to files, as `tail -F` does: also after they were truncated, renamed, deleted and made again, and
/// when they do not exist yet. Of a directory it follows every file.
///
///     swift run follow -n 10 /var/log/syslog /tmp/app
///
/// It shows how a loop turns many small events into little work: the kernel's notices (inotify) only mark what should be
/// looked at, and everything marked is looked at once before the loop sleeps. And it never blocks: what the reader of its
/// output does not take is waited for with a source, and files are not read any further meanwhile.
///
/// Follower.swift is the place to begin.
@main
struct Follow {
    /// Synchronous, so that the initial thread stays ours and can run the main loop.
    @MainActor static func main() {
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
