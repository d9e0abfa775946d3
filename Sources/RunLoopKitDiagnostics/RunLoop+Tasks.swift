#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopDiagnostics
public import RunLoopKit
internal import RunLoopKitCLibrary

extension RunLoop {
    /// Whether reports on the main loop list the tasks that run there: what each awaits, in which function and line, and for how long.
    ///
    ///     RunLoop.listsTasks = true
    ///     print(RunLoop.main.report())
    ///     // …
    ///     // tasks:
    ///     // task 9 awaits a continuation in Server.serve, Server/Server.swift:12, for …
    ///     // task 4 awaits task 9 in static Main.main, Server/Main.swift:30, for 3.2 s
    ///
    /// Tasks are those of RunLoopKitSingleThread, or with RunLoopKitMainActor those of the main actor; in a program that is linked with
    /// neither, it stays `false`. A task is known from its next turn on, and `async let` by the task that awaits it. A line is known if the
    /// program was not stripped of its lines. `runloop-top` shows the list, too.
    ///
    /// From then on, until it is `false` again, each turn of a task costs a quarter of a microsecond, and a task that has begun is kept in memory
    /// until it has ended, or for a while longer if that is on another executor. A report takes some 0.1 ms for each task that it lists, 200 at
    /// most. Any thread.
    public static var listsTasks: Bool {
        get { Hooks.taskLister.withLock { $0 }?.isListing ?? false }
        set {
            guard let lister = Hooks.taskLister.withLock({ $0 }) else { return }
            lister.isListing = newValue
            if newValue {
                unsafe runloop_report_set_tasks { unsafe copyTasks(of: $0) }
            } else {
                runloop_report_set_tasks(nil)
            }
        }
    }
}

private func copyTasks(of loop: OpaquePointer?) -> UnsafeMutablePointer<CChar>? {
    guard unsafe loop == runloop_main(), let lister = Hooks.taskLister.withLock({ $0 }) else { return nil }
    let lines = lister.lines
    return lines.isEmpty ? nil : unsafe strdup(lines.joined(separator: "\n"))
}
#endif
