#if os(Linux)
public import FoundationEssentials
internal import RunLoopKit

/// Foundation's timer: calls a block at a date, once or repeatedly, on the thread of the loop to which it was added.
///
/// A repeating timer keeps its fire schedule: dates that pass while the loop is busy are skipped and not made up for. A loop
/// retains its timers. A timer releases its block when it becomes invalid, after the call if one is running.
///
/// The methods may be called from any thread. The type is not Sendable, as in Foundation.
open class Timer {
    let native: RunLoopKit.RunLoop.Timer
    private let plan: TimerPlan
    private weak var call: TimerCall?

    /// Makes a timer that is in no loop yet (R137).
    ///
    /// - Parameters:
    ///   - date: when it fires first. A date that has passed means now; `.distantFuture`, and a date that is not a number, mean
    ///     never.
    ///   - interval: in seconds, for a timer that repeats; zero, a negative value and a value that is not a number become 0.1
    ///     milliseconds.
    ///   - repeats: `false`: fires once, and is then invalid.
    ///   - block: called on the loop's thread with this timer.
    public init(
        fire date: Date, interval: TimeInterval, repeats: Bool, block: @escaping @Sendable (Timer) -> Void
    ) {
        let first = FireDate(date)
        let interval = interval > 0 ? interval : 0.0001
        let plan = TimerPlan(first, interval: repeats ? interval : 0)
        let call = TimerCall(plan, block)
        // An instant beyond the clock's range is never reached.
        native = RunLoopKit.RunLoop.Timer(
            at: first.instant ?? .now + .nanoseconds(Int64.max),
            every: repeats ? Duration(clamping: interval) : nil
        ) { call.fire($0) }
        self.plan = plan
        self.call = call
        call.belongs(to: self)
    }

    /// Makes a timer that fires for the first time after one interval, and is in no loop yet (R137). Parameters as above.
    public convenience init(
        timeInterval interval: TimeInterval, repeats: Bool, block: @escaping @Sendable (Timer) -> Void
    ) {
        // The interval that a repeating timer will have.
        let first = repeats && !(interval > 0) ? 0.0001 : interval
        self.init(fire: Date() + first, interval: interval, repeats: repeats, block: block)
    }

    /// Makes a timer that fires for the first time after one interval, and adds it to the current loop in the default mode
    /// (R137). Parameters as above.
    @discardableResult
    open class func scheduledTimer(
        withTimeInterval interval: TimeInterval, repeats: Bool, block: @escaping @Sendable (Timer) -> Void
    ) -> Timer {
        let timer = Timer(timeInterval: interval, repeats: repeats, block: block)
        RunLoops.current.add(timer, forMode: .default)
        return timer
    }

    /// Calls the block now, on this thread, in addition to its schedule (R138). A timer that fires once is invalid afterwards.
    /// No effect if it is invalid already. May be called in the block.
    open func fire() {
        guard isValid, let call else { return }
        plan.fires(at: Date())
        call.block(self)
        if plan.interval == 0 { invalidate() }
    }

    /// When it fires next; while the block runs, the date for which it runs; once it is invalid, when it last fired (R139).
    ///
    /// Setting it moves the timer and restarts its schedule there. A date that has passed means now and reads back as given;
    /// `.distantFuture` suspends the timer. If the block of a repeating timer sets dates, the last one counts. Ignored when
    /// invalid.
    open var fireDate: Date {
        get {
            let next = native.nextFireDate
            return isValid ? plan.date(of: next) : plan.lastDate
        }
        set {
            if isValid { native.nextFireDate = plan.move(to: newValue) }
        }
    }

    /// The interval in seconds, 0 for a timer that fires once. Also of an invalid one.
    open var timeInterval: TimeInterval { plan.interval }

    /// How many seconds later than its date, never earlier, it may fire to share a wake-up with others. A negative value, and
    /// one that is not a number, is set as zero, and a value above half the interval of a repeating timer as half the interval
    /// (R139).
    open var tolerance: TimeInterval {
        get { native.tolerance.seconds }
        set { native.tolerance = newValue > 0 ? Duration(clamping: newValue) : .zero }
    }

    /// `nil`: only the initializers that take a selector set it, and Linux does not have them.
    open var userInfo: Any? { nil }

    /// Can it still fire? True while the block of a timer that fires once runs.
    open var isValid: Bool { native.isValid }

    /// Removes the timer from its loop, for ever, and frees the block, after the call if one is running (R88). Any thread; does
    /// not wait for a call that runs on another thread. A second call has no effect.
    open func invalidate() {
        native.invalidate()
    }

    /// The timer is about to be added to the loop of `keeper`. `false` if it cannot be, because it is invalid or in another
    /// loop.
    func join(_ keeper: TimerKeeper) -> Bool {
        guard let call, call.join(keeper) else { return false }
        // It is kept before it is added, so that the end of the call finds it whenever it comes.
        keeper.keep(self)
        if !isValid { keeper.letGo(self) }
        return isValid
    }

    func leave(_ keeper: TimerKeeper) {
        call?.leave(keeper)
    }
}

extension Timer: NSObjectProtocol, Hashable, CustomStringConvertible {
    /// Are these the same timer? O(1).
    public static func == (a: Timer, b: Timer) -> Bool { a === b }

    /// Hashes the timer's identity. O(1).
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The timer and when it fires. For people and logs.
    public var description: String {
        "<Timer \(isValid ? "fires \(fireDate)" : "invalid")\(timeInterval > 0 ? ", every \(timeInterval) s" : "")>"
    }
}

@available(*, unavailable)
extension Timer: @unchecked Sendable {}
#endif
