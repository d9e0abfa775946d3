#if os(Linux)
extension RunLoop {
    /// The instants of a timer, as a sequence: `for await tick in loop.ticks(every: .seconds(1)) { … }`.
    ///
    /// Each iteration over the sequence has a timer of its own. The timer is added to the loop when the iteration begins, and
    /// invalidated when it ends: when the `for` loop is left, the task is cancelled, or the iterator is released. A slow consumer
    /// gets the newest instant only. The sequence ends when the loop's thread ends. Any thread, any task. O(log timers) per mode.
    ///
    /// - Parameters:
    ///   - interval: the time between two ticks, greater than zero (anything else is a precondition failure).
    ///   - tolerance: how much later a tick may come, to share a wake-up.
    public func ticks(
        every interval: Duration, tolerance: Duration = .zero, inMode mode: Mode = .common
    ) -> some AsyncSequence<Instant, Never> & Sendable {
        precondition(interval > .zero, "A timer repeats at an interval greater than zero.")
        return NewestSequence<Instant> { end in
            let timer = Timer(at: self.clock.now + interval, every: interval, tolerance: tolerance) { timer in
                if let date = timer.nextFireDate { end.mailbox.put(date) }
            }
            self.addUnlessOver(timer, forMode: mode)
            return timer
        }
    }

    /// The activities of the loop, as a sequence. Its observer is added and invalidated like the timer of `ticks`. Only the
    /// newest activity is kept: to see each one, or to act before the loop continues, use an `Observer`.
    public func activities(
        _ activities: Observer.Activities, inMode mode: Mode = .common
    ) -> some AsyncSequence<Observer.Activities, Never> & Sendable {
        NewestSequence<Observer.Activities> { end in
            let observer = Observer(activities) { _, activity in end.mailbox.put(activity) }
            self.addUnlessOver(observer, forMode: mode)
            return observer
        }
    }
}
#endif
