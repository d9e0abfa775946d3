import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What comes from the rest of the system: a changed file, a signal, the end of a child. Here one child causes all three.
enum System: Act {
    static let title = "From the system"
    static let shows = "A child writes a file, sends a signal, and ends: the loop receives each, and learns by whom."

    static func perform(on stage: Stage) throws {
        let loop = RunLoop.main
        let folder = try TemporaryFolder()
        defer { folder.remove() }

        let changes = try RunLoop.Source(watching: folder.path, .directory) { changes in
            for change in changes where change.kind == .created {
                stage.tell("a file is there: \(change.path.lastComponent)")
            }
        }
        let hangUp = try RunLoop.Source(signal: SIGHUP, evenIfIgnored: true) { signal in
            stage.tell("SIGHUP from process \(signal.sender?.process ?? 0)")
        }
        for source in [changes, hangUp] { try loop.add(source, forMode: .common) }
        defer { for source in [changes, hangUp] { source.invalidate() } }

        let script = "sleep 0.03; echo text > \(folder.path)/news; sleep 0.03; kill -HUP $PPID; sleep 0.03; exit 3"
        let child = try RunLoop.Child.start(["sh", "-c", script], on: loop) { exit in
            stage.tell("the child has ended: \(exit.reason)")
            loop.stop()
        }
        let process = child.process
        let result = loop.run(mode: .default, for: .seconds(20))
        _ = consume child

        try stage.check(
            "each was reported, in order", stage.story,
            is: ["a file is there: news", "SIGHUP from process \(process)", "the child has ended: exited(3)"])
        try stage.check("the run was ended by the child's end", result, is: .stopped)
    }
}

/// A folder with a new name, for as long as an act takes.
private struct TemporaryFolder {
    let path: String

    init() throws(Mishap) {
        var template = Array("/tmp/tour-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else { throw Mishap(system: "mkdtemp", errno) }
        self.path = String(cString: path)
    }

    func remove() {
        unlink(path + "/news")
        rmdir(path)
    }
}

extension String {
    fileprivate var lastComponent: Substring { split(separator: "/").last ?? "" }
}
