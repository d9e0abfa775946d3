import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Runs a command, and again whenever a file below a folder has changed. What still runs of the former one is ended before, with all that it
/// has started.
///
///     swift run rebuild Sources swift build
///
/// Several changes within a tenth of a second are one. Control-C and SIGTERM end the command as well.
@main
struct Rebuild {
    static let usage = "usage: rebuild FOLDER PROGRAM [ARGUMENT ...]"

    @MainActor static func main() {
        // An answer, and no error.
        if CommandLine.arguments.dropFirst() == ["--help"] { return print(usage) }
        guard CommandLine.arguments.count > 2 else {
            tell(usage)
            exit(2)
        }
        // A folder may come later, but one that is not there is mostly a mistake.
        guard let folder = opendir(CommandLine.arguments[1]) else {
            tell("rebuild: \(CommandLine.arguments[1]): \(String(cString: strerror(errno)))")
            exit(1)
        }
        closedir(folder)
        let builder = Builder(Array(CommandLine.arguments[2...]))
        Task {
            do {
                let changes = RunLoop.main.changes(of: CommandLine.arguments[1], .tree, settle: .milliseconds(100))
                builder.begin(because: "the beginning")
                for try await changes in changes { builder.begin(because: changes.first?.path ?? "") }
            } catch {
                tell("rebuild: \(error)")
                exit(1)
            }
        }
        do {
            for signal in [SIGTERM, SIGINT] {
                let end = try RunLoop.Source(signal: signal) { _ in
                    Task { @MainActor in
                        await builder.end()
                        exit(0)
                    }
                }
                try RunLoop.main.add(end, forMode: .common)
            }
        } catch {
            tell("rebuild: \(error)")
            exit(1)
        }
        RunLoop.main.run()
    }

    static func tell(_ words: String) { _ = (words + "\n").withCString { write(STDERR_FILENO, $0, strlen($0)) } }
}

/// Runs a command, one at a time: each run awaits the end of the one before it.
@MainActor
final class Builder {
    private let command: [String]
    private var build: Task<Void, Never>?

    init(_ command: [String]) { self.command = command }

    func begin(because reason: String) {
        let former = build
        former?.cancel()
        build = Task {
            await former?.value
            if Task.isCancelled { return }
            Rebuild.tell("build, because of \(reason)")
            await run()
        }
    }

    func end() async {
        build?.cancel()
        await build?.value
    }

    private func run() async {
        var options = RunLoop.Child.Options()
        options.group = .new
        do {
            let child = try RunLoop.Child.start(command, options: options, on: .main)
            do {
                Rebuild.tell("\(try await child.exit().reason)")
            } catch is CancellationError {
                // Awaited, though this task is cancelled.
                try await child.end(by: [.terminate(pause: .milliseconds(500)), .kill], ofGroup: true)
                Rebuild.tell("ended")
            }
        } catch {
            Rebuild.tell("\(error)")
        }
    }
}
