#if os(Linux)
internal import RunLoopKit

/// Keeps the timers of a loop, each until it is invalid or the loop's thread ends. Timers are released outside the lock,
/// because that may run user code.
///
/// In a forked child the keepers of inherited loops are not used: a thread that does not exist there may hold the lock.
final class TimerKeeper: Sendable {
    private let timers = Guarded<[ObjectIdentifier: Unguarded<Timer>]>([:])
    private let process = ForkGeneration()

    func keep(_ timer: Timer) {
        if process.isOver { return }
        let kept = Unguarded(timer)
        _ = timers.withLock { $0.updateValue(kept, forKey: ObjectIdentifier(timer.native)) }
    }

    func letGo(_ timer: Timer) {
        letGo(ObjectIdentifier(timer.native))
    }

    /// By the timer of RunLoopKit, because the timer of this module may be in its `deinit`.
    func letGo(_ key: ObjectIdentifier) {
        if process.isOver { return }
        _ = timers.withLock { $0.removeValue(forKey: key) }
    }

    func letGoOfAll() {
        let all = timers.withLock { timers in
            defer { timers = [:] }
            return timers
        }
        for timer in all.values { timer.object.leave(self) }
    }
}
#endif
