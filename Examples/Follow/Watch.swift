import RunLoopKit
import RunLoopKitLinux

/// A source that watches a path. It ends when this is released.
///
/// What it tells is only a hint to check the file: the file itself is always right.
final class Watch: Sendable {
    private let source: RunLoop.Source

    /// - Parameter whenChanged: called if something has happened to what has the path, or to the directories and links on the way to it.
    init(_ path: String, _ scope: RunLoop.FileChange.Scope, whenChanged: @escaping @MainActor () -> Void) throws {
        source = try RunLoop.Source(
            watching: path, scope, followsLink: true, perform: RunLoop.onMainActor { _ in whenChanged() })
        try RunLoop.main.add(source, forMode: .default)
    }

    deinit { source.invalidate() }
}
