#if os(Linux)
internal import FoundationEssentials
internal import RunLoopKit
internal import Synchronization

/// The dates of a timer, as they were passed in.
final class TimerPlan: Sendable {
    /// In seconds, 0 if it fires once.
    let interval: TimeInterval
    private let dates: Guarded<(planned: FireDate, fired: Date?)>

    init(_ first: FireDate, interval: TimeInterval) {
        self.interval = interval
        dates = Guarded((first, nil))
    }

    /// Returns the instant to move the native timer to.
    func move(to date: Date) -> Instant? {
        let date = FireDate(date)
        dates.withLock { $0.planned = date }
        return date.instant
    }

    func date(of instant: Instant?) -> Date { dates.withLock { $0.planned.date(of: instant) } }

    func fires(at date: Date) { dates.withLock { $0.fired = date } }

    /// When it last fired, or was due if it never fired.
    var lastDate: Date { dates.withLock { $0.fired ?? $0.planned.given } }
}

/// The call of a timer's block. RunLoopKit's timer owns it and frees it when it becomes invalid, after the call if one is
/// running: the keeper of its loop releases the timer then. The reference to the timer is weak. The keeper and the program own
/// it, so a timer that was never added is freed with the program's last reference.
@safe final class TimerCall: @unchecked Sendable {
    let block: @Sendable (Timer) -> Void
    private let plan: TimerPlan
    // Written once, before any other code has this object.
    private weak var timer: Timer?
    private var key: ObjectIdentifier?
    // Has one reference to it. There is no lock, because a fork could happen while it is held.
    @safe private let keeper = unsafe Atomic<Unmanaged<TimerKeeper>?>(nil)

    init(_ plan: TimerPlan, _ block: @escaping @Sendable (Timer) -> Void) {
        self.plan = plan
        self.block = block
    }

    deinit {
        let keeper = unsafe keeper.load(ordering: .acquiring)?.takeRetainedValue()
        if let key { keeper?.letGo(key) }
    }

    func belongs(to timer: Timer) {
        self.timer = timer
        key = ObjectIdentifier(timer.native)
    }

    func fire(_ native: RunLoopKit.RunLoop.Timer) {
        guard let timer else { return }
        plan.fires(at: plan.date(of: native.nextFireDate))
        block(timer)
    }

    /// A timer is in one loop, until the loop's thread ends.
    func join(_ keeper: TimerKeeper) -> Bool {
        let mine = unsafe Unmanaged.passRetained(keeper)
        let (isFirst, current) = unsafe self.keeper.compareExchange(
            expected: nil, desired: mine, ordering: .acquiringAndReleasing)
        if !isFirst { unsafe mine.release() }
        return unsafe isFirst || current?.toOpaque() == mine.toOpaque()
    }

    func leave(_ keeper: TimerKeeper) {
        let mine = unsafe Unmanaged.passUnretained(keeper)
        let (wasMine, _) = unsafe self.keeper.compareExchange(
            expected: mine, desired: nil, ordering: .acquiringAndReleasing)
        if wasMine { unsafe mine.release() }
    }
}
#endif
