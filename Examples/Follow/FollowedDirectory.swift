import RunLoopKit
import RunLoopKitLinux

/// A directory whose files are all followed. Each file is printed once, even if it is renamed.
@MainActor final class FollowedDirectory: Followed {
    private struct Member {
        let tail: Tail
        var path: String
        /// It was not in the last list. One that is read while a file is renamed may have neither of its names.
        var isMissed = false
    }

    private let path: String
    private let follower: Follower
    private var watch: Watch?
    private var members: [Identity: Member] = [:]
    /// Where to begin in the files that exist now. Later files are new, and printed as a whole.
    private var start: Tail.Start
    private var refused: Set<Identity> = []

    init(_ path: String, from start: Tail.Start, _ follower: Follower) {
        self.path = path
        self.start = start
        self.follower = follower
    }

    func look() {
        do {
            if watch == nil { watch = try Watch(path, .directory) { [weak self] in self?.setNeedsLook() } }
            let present = try find(File.names(inDirectory: path))
            start = .beginning
            printMembers(present)
        } catch {
            // No longer a directory. What was written to its files before is still printed.
            printMembers([])
            if !members.isEmpty { return }
            Message.print("\(path): \(error)")
            follower.replace(self, withFile: path)
        }
    }

    /// Adds the new files, and updates the names of all.
    private func find(_ names: [String]) throws(SystemError) -> Set<Identity> {
        var present: Set<Identity> = []
        for name in names {
            let path = self.path.hasSuffix("/") ? self.path + name : self.path + "/" + name
            guard let status = Status(path: path), status.kind == .file else { continue }
            present.insert(status.identity)
            if let member = members[status.identity] {
                members[status.identity] = Member(tail: member.tail, path: path)
            } else {
                takeIn(path)
            }
        }
        refused.formIntersection(present)
        return present
    }

    private func takeIn(_ path: String) {
        do throws(SystemError) {
            let file = try File(path: path)
            do throws(SystemError) {
                let tail = try Tail(file, from: start)
                members[tail.identity] = Member(tail: tail, path: path)
            } catch {
                file.close()
                throw error
            }
        } catch {
            guard let identity = Status(path: path)?.identity, refused.insert(identity).inserted else { return }
            Message.print("\(path): \(error)")
        }
    }

    /// Prints a piece of each file; a file with more is marked again. A file that is gone is removed after its last piece.
    private func printMembers(_ present: Set<Identity>) {
        for (identity, member) in members.sorted(by: { $0.value.path < $1.value.path }) {
            if follower.output.isFull { return setNeedsLook() }
            if member.tail.printOn(follower.output, as: member.path) {
                setNeedsLook()
            } else if !present.contains(identity) {
                if !member.isMissed && !member.tail.isDeleted {
                    members[identity]?.isMissed = true
                    setNeedsLook()
                    continue
                }
                member.tail.close()
                members[identity] = nil
            }
        }
    }

    private func setNeedsLook() { follower.setNeedsLook(self) }
}
