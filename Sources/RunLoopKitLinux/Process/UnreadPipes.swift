#if os(Linux)
internal import RunLoopKit
internal import Synchronization

/// Looks now and then for a pipe of a child that is full, and that nobody reads, while somebody waits for the child's end or reads another pipe:
/// the child waits for its reader, and the reader for the child. Says so once in a program, and then no more.
///
/// On no loop: the program may not run it, and its clock may be another one than the child's.
final class UnreadPipes: Sendable {
    private let task: Task<Void, Never>

    init(_ pipes: ChildPipes) {
        task = Task.detached { [weak pipes] in await Self.watch { pipes } }
    }

    deinit {
        task.cancel()
    }

    private static func watch(_ pipes: () -> ChildPipes?) async {
        var pause = Duration.seconds(1)
        var former: [CInt: Int] = [:]
        while (try? await Task.sleep(for: pause)) != nil, let pipes = pipes() {
            let stuck = pipes.stuckPipes
            // It was so a moment ago: what is read now and then is not.
            for (number, count) in stuck where former[number] == count { return note(number, count, of: pipes.process) }
            former = stuck
            pause = stuck.isEmpty ? min(pause * 2, .seconds(60)) : .seconds(1)
        }
    }

    private static func note(_ number: CInt, _ count: Int, of process: Int32) {
        if !RunLoop.writesDiagnostics || hasNoted.exchange(true, ordering: .relaxed) { return }
        writeDiagnostic(
            """
            The child process \(process) can't go on: its descriptor \(number) is a pipe that is full, with \(count) bytes, and nobody reads \
            it, while its end is awaited, or another of its pipes is read. RunLoop.Child.run reads all of them, and so does \
            Output.collect; or read them at the same time, or give it .null. (Written once. RUNLOOP_DIAGNOSTICS=0 in the \
            environment, or RunLoop.writesDiagnostics = false, disables diagnostics.)
            """)
    }

    private static let hasNoted = Atomic(false)
}
#endif
