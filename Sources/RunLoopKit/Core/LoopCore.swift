internal import CRunLoopCore
internal import CRunLoopOverlay

/// A `runloop *`, borrowed. Thread-safe, as the core is.
struct LoopCore: Hashable, @unchecked Sendable {
    let pointer: OpaquePointer

    init?(_ pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    static var current: LoopCore? { LoopCore(runloop_current()) }
    static var main: LoopCore? { LoopCore(runloop_main()) }

    /// The calling thread's loop, or the reason why there is none.
    static func makeCurrent() -> Result<LoopCore, RunLoop.Error> {
        if let core = current { return .success(core) }
        return .failure(RunLoop.Error(result: runloop_run_in_mode(RUNLOOP_DEFAULT_MODE, 0, false)))
    }

    func retain() { runloop_retain(pointer) }
    func release() { runloop_release(pointer) }

    // Looking.

    /// Is it the calling thread's, and has that asked for it?
    @inline(__always)
    var isThreads: Bool { runloop__is_thread_loop(pointer) }

    /// The loop is run by its own thread: anything else is a precondition failure.
    @inline(__always)
    func checkThread() {
        if !isThreads { checkThreadThatNeverAsked() }
    }

    /// The initial thread may run `main` without ever asking for `current`: its loop is made known to it.
    @inline(never)
    private func checkThreadThatNeverAsked() {
        precondition(
            LoopCore.current == self, "A run loop is run by its own thread; perform a closure on it instead.")
    }

    var isCurrent: Bool { runloop_is_current(pointer) }
    var isWaiting: Bool { runloop_is_waiting(pointer) }
    var isIdle: Bool { runloop_is_idle(pointer) }
    var spinLimit: Int64 { runloop_get_spin(pointer) }
    func setSpinLimit(_ limit: Int64) { _ = runloop_set_spin(pointer, limit) }
    var currentMode: ModeName? { runloop_current_mode(pointer).map(ModeName.init(text:)) }
    var wakeUpsSaved: UInt64 { runloop_wakeups_saved(pointer) }
    var copiedDescription: String? { takeString(runloop_copy_description(pointer)) }

    func nextFireDate(_ mode: ModeName) -> Int64 { runloop_next_fire_date(pointer, mode.text) }

    var modes: [ModeName] {
        var capacity = 8
        while true {
            var count = 0
            let names = [UnsafePointer<CChar>?](unsafeUninitializedCapacity: capacity) { buffer, initialized in
                count = runloop_get_modes(pointer, buffer.baseAddress, capacity)
                initialized = min(count, capacity)
            }
            if count <= capacity { return names.map(ModeName.init(text:)) }
            capacity = count + 8
        }
    }

    func addCommonMode(_ mode: ModeName) -> Int32 { runloop_add_common_mode(pointer, mode.text) }
    func isCommon(_ mode: ModeName) -> Bool { runloop_mode_is_common(pointer, mode.text) }
    func isEmpty(_ mode: ModeName) -> Bool { runloop_mode_is_empty(pointer, mode.text) }

    // Running: the loop of the calling thread, which is why these are static.

    static func run() { _ = runloop_run() }

    /// A run that the loop refuses, because its thread is ending or it came here through a fork, is finished.
    static func run(_ mode: ModeName, limit: Int64, returnAfterSourceHandled: Bool) -> RunLoop.RunResult {
        let result = runloop_run_in_mode(mode.text, limit, returnAfterSourceHandled)
        return RunLoop.RunResult(rawValue: result) ?? .finished
    }

    static var notesAreEnabled: Bool { runloop_notes_are_enabled() }
    static func setNotesEnabled(_ enabled: Bool) { runloop_set_notes_enabled(enabled) }

    static func hasWork(_ mode: ModeName) -> Bool { runloop_has_work(mode.text) }

    func stop() { runloop_stop(pointer) }
    func stopLatched() { runloop_stop_latched(pointer) }
    func stop(_ mode: ModeName) -> Int32 { runloop_stop_mode(pointer, mode.text) }
    func wakeUp() { runloop_wake_up(pointer) }

    // Performing.

    /// What was accepted and cannot run any more because the loop's thread ends: `discard` tells what becomes of it.
    func post(
        _ modes: Set<RunLoop.Mode>, atEnd discard: DiscardOfPost = .free, _ body: sending @escaping () -> Void
    ) -> Int32 {
        let atEnd: runloop_function = discard == .free ? discardCallOut : performCallOut
        return LentClosure(consume body).lend { words in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: modes.count) { names in
                for (index, mode) in modes.enumerated() { names[index] = mode.name.text }
                return runloop__post_pair(pointer, nil, names.baseAddress, modes.count, performCallOut, words, atEnd)
            }
        }
    }

    /// In one mode, or in all common ones.
    @inline(__always)
    func post(
        _ mode: ModeName, atEnd discard: DiscardOfPost = .free, _ body: sending @escaping () -> Void
    ) -> Int32 {
        let atEnd: runloop_function = discard == .free ? discardCallOut : performCallOut
        return LentClosure(consume body).lend { words in
            runloop__post_pair(pointer, mode.text, nil, 0, performCallOut, words, atEnd)
        }
    }

    /// Both functions take the box back.
    func post(
        _ modes: ModeNames, _ box: AnyObject, _ function: @escaping runloop_function,
        atEnd discard: @escaping runloop_function
    ) -> Int32 {
        let info = lendBox(box)
        let result = runloop_post_in_modes(pointer, modes.texts, modes.texts.count, function, info, discard)
        if result < 0 { returnBox(info) }
        return result
    }

    // The Swift objects of a loop, by an address that only their owner uses.

    /// That of the calling thread's loop, borrowed.
    static func currentAssociated(_ key: UnsafeRawPointer) -> UnsafeMutableRawPointer? {
        runloop_current_associated(key)
    }

    /// That of this loop, retained.
    func copyAssociated(_ key: UnsafeRawPointer) -> UnsafeMutableRawPointer? { runloop_copy_associated(pointer, key) }

    func setAssociated(
        _ key: UnsafeRawPointer, _ object: UnsafeMutableRawPointer,
        retain: @escaping @Sendable @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
        release: @escaping runloop_function
    ) -> Int32 {
        runloop_set_associated(pointer, key, object, retain, release)
    }

    // Membership.

    func add(_ timer: TimerCore, _ mode: ModeName) -> Int32 { runloop_add_timer(pointer, timer.pointer, mode.text) }
    func remove(_ timer: TimerCore, _ mode: ModeName) { runloop_remove_timer(pointer, timer.pointer, mode.text) }
    func contains(_ timer: TimerCore, _ mode: ModeName) -> Bool {
        runloop_contains_timer(pointer, timer.pointer, mode.text)
    }

    func add(_ source: SourceCore, _ mode: ModeName) -> Int32 { runloop_add_source(pointer, source.pointer, mode.text) }
    func remove(_ source: SourceCore, _ mode: ModeName) { runloop_remove_source(pointer, source.pointer, mode.text) }
    func contains(_ source: SourceCore, _ mode: ModeName) -> Bool {
        runloop_contains_source(pointer, source.pointer, mode.text)
    }

    func add(_ observer: ObserverCore, _ mode: ModeName) -> Int32 {
        runloop_add_observer(pointer, observer.pointer, mode.text)
    }
    func remove(_ observer: ObserverCore, _ mode: ModeName) {
        runloop_remove_observer(pointer, observer.pointer, mode.text)
    }
    func contains(_ observer: ObserverCore, _ mode: ModeName) -> Bool {
        runloop_contains_observer(pointer, observer.pointer, mode.text)
    }
}

/// What becomes of a posted closure when the loop's thread ends before it could run.
enum DiscardOfPost {
    /// It is freed unused.
    case free
    /// It runs on the ending thread.
    case perform
}

@Sendable
private func performCallOut(_ info: UnsafeMutableRawPointer?) {
    guard let info else { return }
    LentClosure.takeBack(info)()
}

@Sendable
private func discardCallOut(_ info: UnsafeMutableRawPointer?) {
    guard let info else { return }
    _ = LentClosure.takeBack(info)
}

/// The process in which something was made: over in the children that fork off it.
package struct ForkGeneration: Sendable {
    private let number = runloop_fork_generation()

    package init() {}

    package var isOver: Bool { runloop_fork_generation() != number }
}
