#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop {
    /// Calls its action when a clock that can jump shows a date: the wall clock, or the one that goes on while the machine is
    /// suspended.
    ///
    ///     let date = RunLoop.WallInstant(secondsSince1970: 1_893_456_000)
    ///     let alarm = try RunLoop.Alarm(at: date) { alarm, tick in
    ///         complain()
    ///         alarm.nextDate = tick.date + .seconds(3600)
    ///     }
    ///     try loop.add(alarm.source, forMode: .common)
    ///
    /// The type of the date chooses the clock: a ``RunLoop/WallInstant`` is one of the wall clock, a `ContinuousClock.Instant`
    /// one of boot time. A ``Timer`` lives by neither: its time stands still in a suspension.
    ///
    /// The action is never called before the clock shows the date. If the wall clock is set back, the alarm waits; if it is set
    /// forward, or the machine was suspended, over several dates, that is one call. A date that had its call does not get another
    /// one. An alarm without an interval has no date after its call, and stays valid: the action sets the next one, which a
    /// calendar has computed.
    ///
    /// An alarm can be in several modes of several loops, one of which serves a date, hence the `@Sendable` action. Loops retain
    /// their alarms, and a mode with an alarm is not empty. The action is freed with the alarm. In a forked child it is not
    /// called.
    public final class Alarm<Instant: InstantProtocol>: Sendable where Instant.Duration == Duration {
        /// A date of the wall clock that has come: the argument of an action.
        ///
        ///     let alarm = try RunLoop.Alarm(
        ///         at: RunLoop.WallInstant.now, every: .seconds(3600)
        ///     ) { _, tick in
        ///         print(tick.date.secondsSince1970, "and \(tick.missed) before it")
        ///     }
        ///     try loop.add(alarm.source, forMode: .common)
        public struct Tick: Hashable, Sendable {
            /// The latest date of the schedule that has come.
            public let date: Instant
            /// How many dates before it have come since the last call, without calls of their own.
            public let missed: Int
        }

        /// The source that a loop has: it is added to modes, and invalidated, as any other. Its closures are the alarm's. O(1).
        public let source: Source
        private let scale: Timescale<Instant>

        private init(_ source: Source, _ scale: Timescale<Instant>) {
            (self.source, self.scale) = (source, scale)
        }

        convenience init(
            _ scale: Timescale<Instant>, at date: Int64, every interval: Int64,
            _ action: @escaping @Sendable (Alarm, Tick) -> Void
        ) throws(RunLoop.Error) {
            let known = Guarded(KnownAlarm<Instant>())
            let source = try unsafe Source(
                scale.clock, date, interval,
                ClosureBox { core, date, missed in
                    let alarm = known.withLock { known in
                        if let alarm = known.alarm { return alarm }
                        unsafe runloop_source_retain(core)
                        let alarm = unsafe Alarm(Source(core: core), scale)
                        known.alarm = alarm
                        return alarm
                    }
                    action(alarm, Tick(date: scale.instant(date), missed: Int(clamping: missed)))
                })
            self.init(source, scale)
            known.withLock { $0.alarm = self }
        }

        /// The next date that had no call; `nil` if there is none. Setting it moves the alarm and restarts its schedule there;
        /// `nil` takes its date away. In the action, it replaces the next date. Any thread. A loop that sleeps is neither woken
        /// nor delayed. Setting is ignored on an invalid alarm and in a forked child, where there is no date. O(1).
        public var nextDate: Instant? {
            get {
                let date = unsafe runloop_alarm_get_date(source.core)
                return date == Nanoseconds.never ? nil : scale.instant(date)
            }
            set {
                let date = newValue.map(scale.nanoseconds) ?? Nanoseconds.never
                unsafe runloop_alarm_set_date(source.core, date)
            }
        }

        /// The interval, `nil` for an alarm without a schedule. O(1).
        public var interval: Duration? {
            let interval = unsafe runloop_alarm_get_interval(source.core)
            return interval > 0 ? .nanoseconds(interval) : nil
        }
    }

    /// The dates of a schedule of the wall clock, as a sequence: `for try await tick in loop.ticks(at: date, every:
    /// .seconds(3600)) { … }`.
    ///
    /// Dates that come while the consumer is busy are one element, which has their number. Otherwise as an alarm, and as
    /// `readiness(of:for:inMode:)`. Any thread, any task.
    ///
    /// - Parameters:
    ///   - date: the first, which may be past.
    ///   - interval: greater than zero; anything else is a precondition failure.
    /// - Returns: a sequence that throws the errors of making an alarm, and of adding it.
    public func ticks(
        at date: WallInstant, every interval: Duration, inMode mode: Mode = .common
    ) -> some AsyncSequence<Alarm<WallInstant>.Tick, any Swift.Error> & Sendable {
        ticks(.wall, at: date.nanoseconds, every: Timer.checked(interval), mode)
    }

    /// The dates of a schedule of boot time, as a sequence. The same for the clock that goes on while the machine is suspended.
    public func ticks(
        at date: ContinuousClock.Instant, every interval: Duration, inMode mode: Mode = .common
    ) -> some AsyncSequence<Alarm<ContinuousClock.Instant>.Tick, any Swift.Error> & Sendable {
        ticks(.boot, at: Timescale.boot.nanoseconds(date), every: Timer.checked(interval), mode)
    }

    func ticks<Instant>(
        _ scale: Timescale<Instant>, at date: Int64, every interval: Int64, _ mode: Mode
    ) -> SourceSequence<Alarm<Instant>.Tick> {
        SourceSequence<Alarm<Instant>.Tick>(loop: self, mode: mode) { yield in
            try Alarm(scale, at: date, every: interval) { _, tick in yield(tick) }.source
        }
    }
}

extension RunLoop.Alarm where Instant == RunLoop.WallInstant {
    /// Makes an alarm of the wall clock, in no loop yet.
    ///
    /// - Parameters:
    ///   - date: the first date, where the schedule starts. One that is past is due at once.
    ///   - interval: `nil` has no schedule. Otherwise the time between two dates, greater than zero; anything else is a precondition
    ///     failure.
    ///   - action: called on the loop's thread with this alarm, and with the date that has come. It may make any call; a run of the
    ///     loop in it serves further dates.
    /// - Throws: `tooManyDescriptors`, since an alarm needs one; `outOfMemory`.
    public convenience init(
        at date: RunLoop.WallInstant, every interval: Duration? = nil,
        _ action: @escaping @Sendable (RunLoop.Alarm<Instant>, Tick) -> Void
    ) throws {
        try self.init(.wall, at: date.nanoseconds, every: interval.map(RunLoop.Timer.checked) ?? 0, action)
    }
}

extension RunLoop.Alarm where Instant == ContinuousClock.Instant {
    /// Makes an alarm of boot time, which goes on while the machine is suspended, in no loop yet. Parameters and errors as with
    /// the wall clock.
    public convenience init(
        at date: ContinuousClock.Instant, every interval: Duration? = nil,
        _ action: @escaping @Sendable (RunLoop.Alarm<Instant>, Tick) -> Void
    ) throws {
        let date = Timescale.boot.nanoseconds(date)
        try self.init(.boot, at: date, every: interval.map(RunLoop.Timer.checked) ?? 0, action)
    }
}

/// How instants of a type are counted in C.
struct Timescale<Instant: InstantProtocol>: Sendable {
    let clock: runloop_clock_id
    let nanoseconds: @Sendable (Instant) -> Int64
    let instant: @Sendable (Int64) -> Instant
}

extension Timescale where Instant == RunLoop.WallInstant {
    static var wall: Self {
        Timescale(clock: .RUNLOOP_CLOCK_WALL, nanoseconds: \.nanoseconds, instant: Instant.init(nanoseconds:))
    }
}

extension Timescale where Instant == ContinuousClock.Instant {
    /// Swift's clock is CLOCK_BOOTTIME.
    static var boot: Self {
        Timescale(
            clock: .RUNLOOP_CLOCK_BOOT, nanoseconds: { Nanoseconds.of(ContinuousClock().systemEpoch.duration(to: $0)) },
            instant: { ContinuousClock().systemEpoch.advanced(by: .nanoseconds($0)) })
    }
}

/// The object of an alarm, if the program has one: a loop keeps the C alarm, and not the object.
private struct KnownAlarm<Instant: InstantProtocol> where Instant.Duration == Duration {
    weak var alarm: RunLoop.Alarm<Instant>?
}

extension RunLoop.Source {
    /// Makes an alarm: the pointer to it, the date and the number of those before are the argument of the closure.
    fileprivate convenience init(
        _ clock: runloop_clock_id, _ date: Int64, _ interval: Int64,
        _ receiver: ClosureBox<(OpaquePointer, Int64, UInt64)>
    ) throws(RunLoop.Error) {
        unsafe try self.init(receiver: receiver, of: .clock) { context, alarm in
            var config = unsafe runloop_alarm_config()
            unsafe config.context = context
            unsafe config.clock = clock
            unsafe config.date_ns = date
            unsafe config.interval_ns = interval
            unsafe config.fire = { alarm, date, missed, info in
                guard let alarm = unsafe alarm else { return }
                unsafe withInfo(info, as: ClosureBox<(OpaquePointer, Int64, UInt64)>.self) {
                    unsafe $0.call((alarm, date, missed))
                }
            }
            return unsafe runloop_alarm_create(&config, &alarm)
        }
    }
}
#endif
