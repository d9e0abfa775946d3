public import FoundationEssentials
internal import RunLoopKit

/// Foundation's timer: calls a block at a date, once or repeatedly, on the thread of the loop to which it was added.
///
/// A repeating timer keeps its grid: dates that pass while the loop is busy are skipped, never made up for. A loop keeps the
/// timers that it has; a timer lets go of its block when it is invalid, after the call if one is running.
///
/// The methods may be called from any thread. The type is not Sendable, as in Foundation.
open class Timer {
    let native: RunLoopKit.RunLoop.Timer
    private let plan: TimerPlan
    private weak var call: TimerCall?

    /// Makes a timer that is in no loop yet (R137).
    ///
    /// - Parameters:
    ///   - date: when it fires first. A date that has passed means now; `.distantFuture`, and a date that is not a number, never.
    ///   - interval: in seconds, for a timer that repeats; zero, less, and what is not a number become 0.1 milliseconds.
    ///   - repeats: `false`: fires once, and is then invalid.
    ///   - block: called on the loop's thread with this timer.
    public init(
        fire date: Date, interval: TimeInterval, repeats: Bool, block: @escaping @Sendable (Timer) -> Void
    ) {
        let first = FireDate(date)
        let interval = interval > 0 ? interval : 0.0001
        let plan = TimerPlan(first, interval: repeats ? interval : 0)
        let call = TimerCall(plan, block)
        // An instant beyond the clock's range is one that never comes.
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
        // The interval that a timer which repeats will have.
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

    /// Calls the block now, on this thread, beside its schedule (R138). A timer that fires once is invalid afterwards. Nothing
    /// if it is invalid already. May be called in the block.
    open func fire() {
        guard isValid, let call else { return }
        plan.fires(at: Date())
        call.block(self)
        if plan.interval == 0 { invalidate() }
    }

    /// When it fires next, while the block runs the date for which it runs; once it is invalid, when it last fired (R139).
    ///
    /// Setting it moves the timer, and its grid restarts there. A date that has passed means now and reads back as given;
    /// `.distantFuture` parks the timer. In its own block the last date set counts, if it repeats. Ignored when invalid.
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

    /// How many seconds later than its date it may fire, so that it shares a wake-up with others. Never earlier. Less than zero,
    /// and what is not a number, is zero; half the interval of a repeating timer is the most, and what is read back (R139).
    open var tolerance: TimeInterval {
        get { native.tolerance.seconds }
        set { native.tolerance = newValue > 0 ? Duration(clamping: newValue) : .zero }
    }

    /// `nil`: only the initializers that take a selector could give it something, and they are not on Linux.
    open var userInfo: Any? { nil }

    /// Can it still fire? True while the block of a timer that fires once runs.
    open var isValid: Bool { native.isValid }

    /// Takes the timer out of its loop, for ever, and frees the block, after the call if one is running (R88). Any thread; does
    /// not wait for a call that runs on another one. Twice is once.
    open func invalidate() {
        native.invalidate()
    }

    /// The timer is about to be added to the loop of `keeper`; `false` if it cannot be, because it is invalid or another has it.
    func join(_ keeper: TimerKeeper) -> Bool {
        guard let call, call.join(keeper) else { return false }
        // Kept before it is added, so that the end of the call, whenever it comes, finds it.
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

    /// What it is and when it fires. For people and logs.
    public var description: String {
        "<Timer \(isValid ? "fires \(fireDate)" : "invalid")\(timeInterval > 0 ? ", every \(timeInterval) s" : "")>"
    }
}

@available(*, unavailable)
extension Timer: @unchecked Sendable {}
