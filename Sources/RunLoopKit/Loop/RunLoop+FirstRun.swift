#if os(Linux)
internal import CRunLoopOverlay
internal import Synchronization

extension RunLoop {
    /// Has a task added an item to a loop that nobody may ever run? Nobody runs the main loop below an async `main` without
    /// RunLoopKitMainActor, nor the loops of the task pool's threads, nor those of libdispatch's, where a block adds to the loop of its thread.
    /// Synchronous programs prepare their loops as long as they like: a thread's own end reports what was forgotten there.
    var mayNeverRun: Bool {
        if unsafe runloop__has_run(core) { return false }
        let isInTask = unsafe withUnsafeCurrentTask { unsafe $0 != nil }
        let isInBlock = self != RunLoop.main && isCurrent && runloop__is_on_dispatch_thread()
        return (isInTask || isInBlock) && runloop__diagnostic_is_due(RUNLOOP__NEVER_RUN)
    }

    /// Writes the sentence, if the item is still there a second later, and the loop has not run.
    func awaitFirstRun(of item: String, _ isThere: @escaping @Sendable () -> Bool) {
        if FirstRun.isAwaited.exchange(true, ordering: .relaxed) { return }
        Task.detached {
            try? await Task.sleep(for: .seconds(1))
            FirstRun.isAwaited.store(false, ordering: .relaxed)
            if unsafe !runloop__has_run(self.core) && isThere() {
                unsafe runloop__diagnostic_write(RUNLOOP__NEVER_RUN, FirstRun.note(self, of: item))
            }
        }
    }
}

private enum FirstRun {
    /// One loop at a time: a report is written once.
    static let isAwaited = Atomic(false)

    static func note(_ loop: RunLoop, of item: String) -> String {
        let place =
            loop == RunLoop.main
            ? "the main loop. Below an async main, and in Swift Testing, link RunLoopKitMainActor, which runs it"
            : "the loop of a thread of the task pool, or of libdispatch. Use RunLoop.main, or the loop of a RunLoop.Thread"
        return """
            A second ago a task or a block of a dispatch queue added \(item) to a run loop that nobody has run since: \
            \(place).
            """
    }
}
#endif
