internal import RunLoopKit

/// Keeps the timers that a loop has, each until it is invalid or the loop's thread ends. What is let go of is freed outside the
/// lock: that may run code of the user.
///
/// In a forked child the keepers of inherited loops are left alone: a thread that does not exist there may have the lock.
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

    /// By the timer of RunLoopKit: the one here may be on its way out.
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
