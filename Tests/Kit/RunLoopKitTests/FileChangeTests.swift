import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitTesting
import Testing

/// A folder of a test's own.
private final class Folder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/runloop-changes-XXXXXX".utf8CString)
        path = String(cString: try #require(mkdtemp(&template)))
    }

    deinit {
        for name in ["file", "new", "tree/file", "tree", ""] { remove("\(path)/\(name)") }
    }

    func write(_ name: String) throws {
        let file = try #require(fopen("\(path)/\(name)", "a"))
        fputs("text", file)
        fclose(file)
    }
}

@Suite struct FileChangeTests {
    @Test("A source reports what happens to its file, by its name")
    func file() async throws {
        let folder = try Folder()
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            let source = try RunLoop.Source(watching: "\(folder.path)/file") { changes in
                for change in changes { trace.note("\(change.kind) \(change.path == "\(folder.path)/file")") }
            }
            defer { source.invalidate() }
            try loop.add(source, forMode: .default)
            try folder.write("file")
            loop.run(mode: .default, for: generous, returnAfterSourceHandled: true)
            try folder.write("file")
            loop.run(mode: .default, for: generous, returnAfterSourceHandled: true)
            try folder.write("new")
            rename("\(folder.path)/new", "\(folder.path)/file")
            loop.run(mode: .default, for: generous, returnAfterSourceHandled: true)
            remove("\(folder.path)/file")
            loop.run(mode: .default, for: generous, returnAfterSourceHandled: true)
            #expect(trace.all == ["created true", "modified true", "created true", "removed true"])
        }
    }

    @Test("Changes that come while the consumer is busy are one element")
    func busyConsumer() async throws {
        let folder = try Folder()
        let thread = try RunLoop.Thread()
        let writer = Task {
            while !Task.isCancelled {
                try folder.write("file")
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        var iterator = thread.loop.changes(of: folder.path, .tree).makeAsyncIterator()
        _ = try await iterator.next()
        writer.cancel()
        _ = await writer.result
        for name in ["a", "b", "c"] {
            try folder.write(name)
            // The loop has time to notice it.
            try await Task.sleep(for: .milliseconds(2))
        }
        var known: Set<String> = []
        while known.isEmpty, let changes = try await iterator.next() {
            known = Set(changes.filter { $0.kind == .created }.map { String($0.path.suffix(1)) }).intersection([
                "a", "b", "c",
            ])
        }
        #expect(known == ["a", "b", "c"])
    }

    @Test("The changes of a tree are a sequence, in which none is lost while the consumer is busy")
    func sequence() async throws {
        let folder = try Folder()
        let thread = try RunLoop.Thread()
        // The first element shows that the path is watched.
        let writer = Task {
            while !Task.isCancelled {
                try folder.write("file")
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        var iterator = thread.loop.changes(of: folder.path, .tree, settle: .milliseconds(2)).makeAsyncIterator()
        _ = try await iterator.next()
        writer.cancel()
        _ = await writer.result
        mkdir("\(folder.path)/tree", 0o700)
        try folder.write("tree/file")
        var known: Set<String> = []
        while !known.contains("\(folder.path)/tree/file"), let changes = try await iterator.next() {
            for change in changes where change.kind == .created { known.insert(change.path) }
        }
        #expect(known.contains("\(folder.path)/tree"))
        rename("\(folder.path)/tree/file", "\(folder.path)/new")
        var moved: RunLoop.FileChange?
        while moved == nil, let changes = try await iterator.next() {
            moved = changes.first { $0.kind == .moved(from: "\(folder.path)/tree/file") }
        }
        #expect(moved?.path == "\(folder.path)/new")
        #expect(moved?.isDirectory == false)
    }

    @Test("A link is watched, or its file if that is asked for", arguments: [false, true])
    func link(isFollowed: Bool) async throws {
        let folder = try Folder()
        try folder.write("file")
        try #require(symlink("\(folder.path)/file", "\(folder.path)/new") == 0)
        try await withRunLoopThread {
            let (loop, changed) = (RunLoop.current, Count())
            let source = try RunLoop.Source(watching: "\(folder.path)/new", followsLink: isFollowed) { _ in
                changed.increment()
            }
            defer { source.invalidate() }
            try loop.add(source, forMode: .default)
            try folder.write("file")
            loop.run(mode: .default, for: isFollowed ? generous : .milliseconds(50), returnAfterSourceHandled: true)
            #expect((changed.value > 0) == isFollowed)
        }
    }

    @Test("Changes are reported together when there was none for the time to settle")
    func settles() async throws {
        let folder = try Folder()
        try await withVirtualTime { loop, time in
            let kinds = Trace()
            let source = try RunLoop.Source(watching: folder.path, .directory, settle: .seconds(10)) { changes in
                kinds.note("\(changes.filter { $0.kind == .created }.count)")
            }
            defer { source.invalidate() }
            try loop.add(source, forMode: .default)
            for name in ["file", "new"] {
                try folder.write(name)
                time.advance(by: .seconds(9))
            }
            #expect(kinds.all == [])
            time.advance(by: .seconds(2))
            #expect(kinds.all == ["2"])
        }
    }

    @Test("A path that cannot be watched is an error") func errors() throws {
        #expect(throws: RunLoop.Error.invalid) { try RunLoop.Source(watching: "") { _ in } }
        #expect(throws: RunLoop.Error.invalid) { try RunLoop.Source(watching: "a\0b") { _ in } }
        #expect(throws: RunLoop.Error.invalid) { try RunLoop.Source(watching: "/", settle: .seconds(-1)) { _ in } }
        let tooLong = String(repeating: "n", count: 300)
        #expect(throws: RunLoop.Error(errorNumber: ENAMETOOLONG)) { try RunLoop.Source(watching: tooLong) { _ in } }
    }

    @Test("A source that is freed frees its closure") func freed() throws {
        let freed = Count()
        do {
            let token = Token(freed)
            _ = try RunLoop.Source(watching: "/", .directory) { _ in token.touch() }
        }
        #expect(freed.value == 1)
    }
}
