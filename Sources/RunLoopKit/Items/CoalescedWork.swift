#if os(Linux)
internal import Synchronization

extension RunLoop {
    /// Work that is marked as needed any number of times and then done once, right before the loop would sleep. "Needs layout" and
    /// "needs saving" are built from it.
    ///
    ///     let redraw = RunLoop.CoalescedWork(on: loop) { window.draw() }
    ///     // However often: it is drawn once, before the loop sleeps.
    ///     redraw.setNeeded()
    ///     redraw.setNeeded()
    ///
    /// Work that is marked is done when the loop has nothing else to do, and when a run ends; several pieces by their order. If it is
    /// marked again while it is being done, or by other work, there is another iteration before the loop sleeps. The loop keeps the
    /// work's closure as long as this object lives, and longer if the work is still marked.
    public final class CoalescedWork: Sendable {
        private let state: State
        private let observer: Observer

        /// Makes work for a loop, not marked.
        ///
        /// - Parameters:
        ///   - loop: the loop on whose thread the work is done. If that thread has ended, it is never done.
        ///   - mode: a mode, or all common ones.
        ///   - order: lower is done first, also compared with observers of `beforeWaiting`. Clamped to 32 bits.
        ///   - body: may mark this and other work, and run the loop; it is not called inside itself.
        public init(
            on loop: RunLoop, inMode mode: Mode = .common, order: Int = 0, _ body: sending @escaping () -> Void
        ) {
            let state = State(loop, mode)
            self.state = state
            observer = Observer([.beforeTimers, .beforeWaiting, .afterWaiting, .exit], order: order) {
                observer, activity in
                state.observe(activity, body)
                if state.isOver { observer.invalidate() }
            }
            loop.addUnlessOver(observer, forMode: mode)
        }

        deinit {
            state.isReleased.store(true, ordering: .sequentiallyConsistent)
            // Otherwise the observer does this when it has done the work.
            if state.isOver { observer.invalidate() }
        }

        /// Has the work done once before the loop sleeps, however often it is asked for: it is done before the loop next sleeps in the
        /// mode, or when its run ends. Wakes the loop if needed. Several calls before that are one. Any thread, `body` too; no effect after
        /// `invalidate()`. O(1), one system call if the loop sleeps.
        public func setNeeded() { if observer.isValid { state.mark() } }

        /// Is it marked, and has not begun? O(1).
        public var isNeeded: Bool { state.isNeeded.load(ordering: .sequentiallyConsistent) }

        /// Ends the work, for ever, and frees its closure, after its call if that is running. A second call has no effect. Any
        /// thread; does not wait for a call on another thread.
        public func invalidate() { observer.invalidate() }
    }
}

/// What the threads that mark the work and the loop's thread share.
private final class State: Sendable {
    let isNeeded = Atomic(false)
    let isReleased = Atomic(false)
    /// Whether the loop may sleep without checking `isNeeded` again: true from the check until the sleep is over, and after a
    /// nested run, since the outer one may have checked; and at first, as the loop may be about to sleep when the work is made.
    private let hasChecked = Atomic(true)
    private let loop: RunLoop
    private let mode: RunLoop.Mode

    init(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        self.loop = loop
        self.mode = mode
    }

    /// It can no longer be marked, and is not marked.
    var isOver: Bool {
        isReleased.load(ordering: .sequentiallyConsistent) && !isNeeded.load(ordering: .sequentiallyConsistent)
    }

    func mark() {
        if isNeeded.exchange(true, ordering: .sequentiallyConsistent) { return }
        if !loop.isCurrent || hasChecked.load(ordering: .sequentiallyConsistent) { requestIteration() }
    }

    /// On the loop's thread.
    func observe(_ activity: RunLoop.Observer.Activities, _ body: () -> Void) {
        let isCheck = activity == .beforeWaiting || activity == .exit
        hasChecked.store(isCheck, ordering: .sequentiallyConsistent)
        guard isCheck && isNeeded.exchange(false, ordering: .sequentiallyConsistent) else { return }
        body()
        // A run that was nested in it may have performed the post of the mark, and does not call this observer (R96).
        if isNeeded.load(ordering: .sequentiallyConsistent) { requestIteration() }
    }

    /// A posted closure stays until a run in the mode performs it, and prevents that run from sleeping. A wake-up might be consumed
    /// by a nested run in another mode.
    private func requestIteration() {
        if loop.post(mode, {}) == -ErrorNumber.outOfMemory { outOfMemory() }
    }
}
#endif
