#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop {
    /// A change of a file or a directory: in the argument of a source that watches a path.
    ///
    ///     for try await changes in loop.changes(of: "Sources", .tree) {
    ///         for change in changes { print(change.kind, change.path) }
    ///     }
    public struct FileChange: Hashable, Sendable {
        /// How much of a path is watched: the file, a folder's entries, or the tree below.
        ///
        ///     let settings = try RunLoop.Source(watching: "settings.json", .file) { _ in }
        ///     let inbox = try RunLoop.Source(watching: "inbox", .directory) { _ in }
        ///     let sources = try RunLoop.Source(watching: "Sources", .tree) { _ in }
        public enum Scope: Hashable, Sendable {
            /// What has the path, whatever that is, and not what is in it.
            case file
            /// That, and if it is a directory, its entries.
            case directory
            /// That, and if it is a directory, everything below it.
            case tree
        }

        /// What has happened to a file or a folder that is watched.
        ///
        ///     let source = try RunLoop.Source(watching: "inbox", .directory) { changes in
        ///         for change in changes {
        ///             switch change.kind {
        ///             case .created: print("new:", change.path)
        ///             case .moved(let former): print(former, "is", change.path)
        ///             default: break
        ///             }
        ///         }
        ///     }
        public enum Kind: Hashable, Sendable {
            /// It is there, and is new: created, moved here from elsewhere, or in the place of a former file.
            case created
            /// It is not there any more: removed, moved elsewhere, or unmounted. Entries come before their directory.
            case removed
            /// It had another path before. What was in a directory has moved along, and is not reported. What was read under the former
            /// path is better read again, since another file may have had that path by then.
            case moved(from: String)
            /// It was written to, or truncated: not through a mapping, nor by another name of it in another directory.
            case modified
            /// Its permissions, owner, times, extended attributes or number of links have changed.
            case attributesChanged
            /// The kernel has dropped notifications (fs.inotify.max_queued_events). Everything was looked at again, and the changes that
            /// were found follow; a file that has changed is reported as modified, without details. The path is that of the source.
            case overflow
            /// It could not be watched or looked at. `accessDenied`, `tooManyWatches`: nothing in it is reported until it changes itself.
            /// `tooManyDescriptors`: it is tried again with the next change of any path. `outOfMemory` with the path of the source: what
            /// is known has to be read again.
            case failed(RunLoop.Error)
        }

        /// What has happened to the file.
        public let kind: Kind
        /// Below the path of the source, as that was given. Bytes that are not UTF-8 are replaced.
        public let path: String
        /// Whether it is a directory, or was one.
        public let isDirectory: Bool

        fileprivate init(_ change: runloop_change) {
            path = unsafe String(cString: change.path)
            isDirectory = unsafe change.is_directory
            kind =
                switch unsafe change.kind {
                case .RUNLOOP_CHANGE_CREATED: .created
                case .RUNLOOP_CHANGE_REMOVED: .removed
                case .RUNLOOP_CHANGE_MOVED: unsafe .moved(from: String(cString: change.from))
                case .RUNLOOP_CHANGE_MODIFIED: .modified
                case .RUNLOOP_CHANGE_ATTRIBUTES: .attributesChanged
                case .RUNLOOP_CHANGE_OVERFLOW: .overflow
                case .RUNLOOP_CHANGE_FAILED:
                    unsafe .failed(RunLoop.Error(result: change.error, of: .files, subject: path))
                }
        }
    }

    /// The changes of a path, as a sequence of those that were noticed together:
    /// `for try await changes in loop.changes(of: "Sources", .tree, settle: .milliseconds(100)) { … }`.
    ///
    /// The path is watched from the first call of `next()` to the end of the iteration, and the mode is not empty for as long. What
    /// happens while the consumer is busy is reported by the next element. Otherwise as a source that watches the path, and as
    /// `readiness(of:for:inMode:)`. Any thread, any task.
    ///
    /// - Returns: a sequence that throws the errors of making a source for the path, and of adding it.
    public func changes(
        of path: String, _ scope: FileChange.Scope = .file, followsLink: Bool = false, settle: Duration = .zero,
        inMode mode: Mode = .common
    ) -> some AsyncSequence<[FileChange], any Swift.Error> & Sendable {
        SourceSequence<[FileChange]>(loop: self, mode: mode) { yield in
            try Source(watching: path, scope, followsLink: followsLink, settle: settle, perform: yield)
        }
    }
}

extension RunLoop.Source {
    /// Makes a source that watches a path for changes, in no loop yet: a file, a directory, or a tree.
    ///
    ///     let source = try RunLoop.Source(
    ///         watching: "settings.json", settle: .milliseconds(100)
    ///     ) { print($0.count) }
    ///     try loop.add(source, forMode: .common)
    ///
    /// The path need not exist. The source follows the path and not the file: if an editor replaces the file, or a log is rotated,
    /// the new one is watched. It reports the difference between what was there at its last look and what is there now. So
    /// the changes, applied in order, always lead to what is on the disk once that is quiet. Something that came and went in between
    /// may not be reported, and something may be reported as created twice.
    ///
    /// It has no descriptor of its own: the sources that a thread makes share an inotify instance, however many there are. Of the kernel's
    /// watches it uses one for each directory, those on the way to the path included. Memory and the time to make it are O(entries).
    ///
    /// - Parameters:
    ///   - path: a relative one is one of the current directory now.
    ///   - scope: what of the path is watched. Links inside a tree are never followed.
    ///   - followsLink: if the path is a symbolic link, watches its target, and notices if any link on the way is changed.
    ///     Otherwise the link itself is watched.
    ///   - settle: changes are reported together, once nothing has happened for so long, or ten times as long after the first.
    ///   - perform: called on the loop's thread, in the source's modes, with at least one change. Changes wait meanwhile.
    /// - Throws: `tooManyDescriptors`, which may mean the user's inotify instances; `tooManyWatches`; `accessDenied` if the path can't be
    ///   read, or the directory in which it is or will be; `invalid` for no path, a NUL in it, or a negative time.
    public convenience init(
        watching path: String, _ scope: RunLoop.FileChange.Scope = .file, followsLink: Bool = false,
        settle: Duration = .zero, perform: @escaping @Sendable ([RunLoop.FileChange]) -> Void
    ) throws {
        if path.utf8.contains(0) { throw RunLoop.Error.invalid }
        unsafe try self.init(receiver: ClosureBox(perform), of: .files, subject: path) { context, watch in
            var config = unsafe runloop_watch_config()
            unsafe config.context = context
            unsafe config.scope = scope.core
            unsafe config.follows_link = followsLink
            unsafe config.settle_ns = Nanoseconds.of(settle)
            unsafe config.changed = { _, changes, count, info in
                let changes = unsafe UnsafeBufferPointer(start: changes, count: count).map(RunLoop.FileChange.init)
                unsafe withInfo(info, as: ClosureBox<[RunLoop.FileChange]>.self) { $0.call(changes) }
            }
            return unsafe path.withCString { path in
                unsafe config.path = path
                return unsafe runloop_watch_create(&config, &watch)
            }
        }
    }
}

extension RunLoop.FileChange.Scope {
    fileprivate var core: runloop_watch_scope {
        switch self {
        case .file: .RUNLOOP_WATCH_FILE
        case .directory: .RUNLOOP_WATCH_DIRECTORY
        case .tree: .RUNLOOP_WATCH_TREE
        }
    }
}
#endif
