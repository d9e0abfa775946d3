import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Everything that is followed. A notification marks files; before the loop sleeps, each marked file is checked once.
@MainActor final class Follower {
    let output: Output
    private let loop = RunLoop.main
    private let patience: Duration
    private var followed: [any Followed] = []
    private var marked: [any Followed] = []
    private var work: RunLoop.CoalescedWork?

    init(_ options: Options) throws {
        let loop = loop
        patience = options.patience
        let isSeveral = options.paths.count > 1 || Status(path: options.paths[0])?.kind == .directory
        output = try Output(on: loop, showsNames: isSeveral) { loop.stop() }
        work = RunLoop.CoalescedWork(
            on: .main, inMode: .default, RunLoop.onMainActor { [weak self] in self?.lookAtMarked() })
        output.whenSpace = { [weak self] in self?.work?.setNeeded() }
        for path in options.paths {
            let start = Tail.Start.lastLines(options.lines)
            let isDirectory = Status(path: path)?.kind == .directory
            add(isDirectory ? FollowedDirectory(path, from: start, self) : FollowedFile(path, from: start, self))
        }
    }

    /// Follows until SIGINT or SIGTERM, or until nobody reads the output.
    func run() throws {
        let loop = loop
        let signals = try [SIGINT, SIGTERM].map { number in try RunLoop.Source(signal: number) { _ in loop.stop() } }
        for source in signals { try loop.add(source, forMode: .default) }
        loop.run(mode: .default)
        for source in signals { source.invalidate() }
        output.finish(for: patience)
    }

    /// Marks a file, which is checked once before the loop sleeps, however often it is marked until then.
    func setNeedsLook(_ item: any Followed) {
        if !marked.contains(where: { $0 === item }) { marked.append(item) }
        work?.setNeeded()
    }

    /// Called if a file turns out to be a directory, or becomes one later: then all files in it are new.
    func replace(_ file: FollowedFile, withDirectory path: String) {
        forget(file)
        add(FollowedDirectory(path, from: .beginning, self))
    }

    /// Called when the directory is gone. Whatever appears in its place is followed.
    func replace(_ directory: FollowedDirectory, withFile path: String) {
        forget(directory)
        add(FollowedFile(path, from: .beginning, self))
    }

    private func add(_ item: any Followed) {
        followed.append(item)
        setNeedsLook(item)
    }

    private func forget(_ item: any Followed) {
        followed.removeAll { $0 === item }
        marked.removeAll { $0 === item }
    }

    private func lookAtMarked() {
        var round = marked[...]
        marked = []
        // If the output is full, the file is not read yet. It stays marked, and there is another call when there is space.
        while !output.isFull, let item = round.popFirst() { item.look() }
        // A file with more to print has marked itself; it is checked again after signals and everything else.
        marked = round + marked
        if !marked.isEmpty && !output.isFull { work?.setNeeded() }
    }
}
