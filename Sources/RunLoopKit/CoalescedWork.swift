internal import Synchronization

extension RunLoop {
    /// Work that is marked any number of times and then done once, right before the loop would sleep: what "needs layout" and
    /// "needs saving" are built from.
    ///
    /// Marked work is done when the loop has nothing else to do, and when a run ends; several pieces in their order. If it is
    /// marked again while it is done, or by other work of the same round, there is another round before the loop sleeps. The
    /// loop keeps the work's closure for as long as somebody keeps this object, and longer if it is still marked.
    public final class CoalescedWork: Sendable {
        private let state: State
        private let observer: Observer

        /// Makes work for a loop, not marked.
        ///
        /// - Parameters:
        ///   - loop: on whose thread the work is done. If its thread has ended, it never is.
        ///   - mode: in which mode, or in all common ones.
        ///   - order: lower goes first; so do observers of `beforeWaiting` with a lower order. Clamped to 32 bits.
        ///   - body: may mark this and other work, and run the loop; it is not called inside itself.
        public init(
            on loop: RunLoop, inMode mode: Mode = .common, order: Int = 0, _ body: sending @escaping () -> Void
        ) {
            let state = State(loop.core, mode)
            self.state = state
            observer = Observer([.beforeTimers, .beforeWaiting, .afterWaiting, .exit], order: order) {
                observer, activity in
                state.arrive(at: activity, body)
                if state.isOver { observer.invalidate() }
            }
            loop.add(observer, forMode: mode)
        }

        deinit {
            state.isDropped.store(true, ordering: .sequentiallyConsistent)
            // Otherwise the loop does that when it has done the work.
            if state.isOver { observer.invalidate() }
        }

        /// Marks the work: it is done before the loop sleeps next in the mode, or when its run ends. Wakes the loop if need
        /// be. Twice before that is once. Any thread, `body` too; without effect after `invalidate()`. O(1), one system call
        /// if the loop sleeps.
        public func setNeeded() { if observer.isValid { state.mark() } }

        /// Is it marked, and not begun? O(1).
        public var isNeeded: Bool { state.isNeeded.load(ordering: .sequentiallyConsistent) }

        /// Calls the work off, for ever, and frees its closure, after its call if that is running. Twice is once. Any thread;
        /// does not wait for a call on another thread.
        public func invalidate() { observer.invalidate() }
    }
}

/// What the marking threads and the loop's thread share.
private final class State: Sendable {
    let isNeeded = Atomic(false)
    let isDropped = Atomic(false)
    /// Whether the loop may sleep without looking here again: true from the look on until the sleep is over, and after a
    /// nested run, since the outer one may have looked.
    private let hasLooked = Atomic(false)
    private let core: LoopCore
    private let mode: RunLoop.Mode

    init(_ core: LoopCore, _ mode: RunLoop.Mode) {
        core.retain()
        self.core = core
        self.mode = mode
    }

    deinit {
        core.release()
    }

    /// Nobody can mark it any more, and it is not marked.
    var isOver: Bool {
        isDropped.load(ordering: .sequentiallyConsistent) && !isNeeded.load(ordering: .sequentiallyConsistent)
    }

    func mark() {
        if isNeeded.exchange(true, ordering: .sequentiallyConsistent) { return }
        if !core.isCurrent || hasLooked.load(ordering: .sequentiallyConsistent) { askForRound() }
    }

    /// On the loop's thread.
    func arrive(at activity: RunLoop.Observer.Activities, _ body: () -> Void) {
        let isLook = activity == .beforeWaiting || activity == .exit
        hasLooked.store(isLook, ordering: .sequentiallyConsistent)
        if isLook && isNeeded.exchange(false, ordering: .sequentiallyConsistent) { body() }
    }

    /// What is posted stays until a run in the mode comes to it, and keeps that from sleeping; a wake-up might be used up by a
    /// nested run in another mode.
    private func askForRound() {
        if core.post(mode.name, {}) == -ErrorNumber.outOfMemory { outOfMemory() }
    }
}
