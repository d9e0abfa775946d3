internal import CRunLoopOverlay
internal import Synchronization

extension RunLoop {
    /// Has a run of the loop begun, ever? Any thread. O(1).
    var hasRun: Bool { runloop__has_run(core) }

    /// A task has added an item to a loop that nobody may ever run: nobody runs the main loop below an async `main` without
    /// RunLoopKitMainActor, nor the loops of the task pool's threads. Tells so if it is still there a second later, and the loop has not run.
    ///
    /// Synchronous programs prepare their loops as long as they like: a thread's own end tells what was forgotten there.
    func watchForFirstRun(of isThere: @escaping @Sendable () -> Bool) {
        if withUnsafeCurrentTask(body: { $0 == nil }) || !runloop__diagnostic_is_due(RUNLOOP__NEVER_RUN) { return }
        if FirstRun.isAwaited.exchange(true, ordering: .relaxed) { return }
        Task.detached {
            try? await Task.sleep(for: .seconds(1))
            FirstRun.isAwaited.store(false, ordering: .relaxed)
            if !self.hasRun && isThere() { runloop__diagnostic_write(RUNLOOP__NEVER_RUN, FirstRun.note(self)) }
        }
    }
}

private enum FirstRun {
    /// One loop at a time: what is told is told once.
    static let isAwaited = Atomic(false)

    static func note(_ loop: RunLoop) -> String {
        let place =
            loop == RunLoop.main
            ? "the main loop. Below an async main, and in Swift Testing, link RunLoopKitMainActor, which runs it"
            : "the loop of a thread of the task pool. Use RunLoop.main, or the loop of a RunLoop.Thread"
        return "A second ago a task added a timer or a source to a run loop that nobody has run since: \(place)."
    }
}
