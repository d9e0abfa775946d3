import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file or directory that is followed, and checked when it may have changed.
@MainActor protocol Followed: AnyObject {
    /// Finds out what has changed, and acts on it. May be called any number of times, even without a reason.
    func look()
}

/// A path, and the file at that path, if there is one.
@MainActor final class FollowedFile: Followed {
    private let path: String
    private let follower: Follower
    private var watch: Watch?
    private var start: Tail.Start
    private var tail: Tail?
    /// The file that had the path before. The writer of a log continues to write to it until it is notified of the new one.
    private var former: Tail?
    /// Of a file that was moved away, by the name that it has now.
    private var watchOfMoved: Watch?
    private var endOfFormer: RunLoop.Timeout?
    /// The last message about the path, so that each is printed once.
    private var lastWords = ""

    /// - Parameter start: where to begin in the file that exists now. Later files are new, and printed as a whole.
    init(_ path: String, from start: Tail.Start, _ follower: Follower) {
        self.path = path
        self.start = start
        self.follower = follower
    }

    func look() {
        // Watch first, then check: a change in between is noticed twice instead of never.
        if watch == nil { watch = watching(path) }
        let found = Status(path: path)
        if let former, former.printOn(follower.output, as: path) { setNeedsLook() }
        if let tail {
            // Text that was written before the file was moved away belongs to it.
            if tail.printOn(follower.output, as: path) { return setNeedsLook() }
            if found?.identity == tail.identity { return say("") }
            if !tail.isDeleted { watchOfMoved = watching(tail.link) }
            // The writer of a renamed file continues to write to it for a while; a deleted file only occupies space.
            if found == nil && !tail.isDeleted { return say("file was moved away") }
            self.tail = nil
            former?.close()
            former = nil
            if tail.isDeleted { tail.close() } else { keepForAWhile(tail) }
            say(found == nil ? "file was deleted" : "file was replaced, following the new one")
        }
        guard let found else {
            start = .beginning
            return say("waiting for it to appear", unlessSaid: ["file was deleted", "file was moved away"])
        }
        begin(found.kind)
    }

    private func begin(_ kind: Status.Kind) {
        if kind == .directory { return follower.replace(self, withDirectory: path) }
        if kind == .other {
            start = .beginning
            return say("neither a file nor a directory; waiting for another one")
        }
        do throws(SystemError) {
            let file = try File(path: path)
            do throws(SystemError) {
                tail = try Tail(file, from: start)
            } catch {
                file.close()
                throw error
            }
        } catch {
            return say("\(error)")
        }
        if !["", "file was replaced, following the new one"].contains(lastWords) { say("file has appeared") }
        lastWords = ""
        start = .beginning
        setNeedsLook()
    }

    private func keepForAWhile(_ tail: Tail) {
        former = tail
        endOfFormer = RunLoop.Timeout(
            on: .main, after: .seconds(10), tolerance: .seconds(5),
            RunLoop.onMainActor { [weak self] in
                self?.forgetFormer()
            })
    }

    private func forgetFormer() {
        endOfFormer = nil
        watchOfMoved = nil
        former?.close()
        former = nil
    }

    private func watching(_ path: String) -> Watch? {
        do {
            return try Watch(path, .file) { [weak self] in self?.setNeedsLook() }
        } catch {
            say("\(error)")
            return nil
        }
    }

    private func setNeedsLook() { follower.setNeedsLook(self) }

    private func say(_ words: String, unlessSaid former: [String] = []) {
        if words == lastWords || former.contains(lastWords) { return }
        lastWords = words
        if !words.isEmpty { Message.print("\(path): \(words)") }
    }
}
