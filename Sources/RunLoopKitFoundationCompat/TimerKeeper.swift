internal import RunLoopKit

/// Keeps the timers that a loop has, each until it is invalid or the loop's thread ends. What is let go of is freed outside the
/// lock: that may run code of the user.
final class TimerKeeper: Sendable {
    private let timers = Guarded<[ObjectIdentifier: Unguarded<Timer>]>([:])

    func keep(_ timer: Timer) {
        let kept = Unguarded(timer)
        _ = timers.withLock { $0.updateValue(kept, forKey: ObjectIdentifier(timer.native)) }
    }

    func letGo(_ timer: Timer) {
        letGo(ObjectIdentifier(timer.native))
    }

    /// By the timer of RunLoopKit: the one here may be on its way out.
    func letGo(_ key: ObjectIdentifier) {
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
