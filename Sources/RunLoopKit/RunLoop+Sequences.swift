extension RunLoop {
    /// The instants of a timer, as a sequence: `for await tick in loop.ticks(every: .seconds(1)) { … }`.
    ///
    /// Each iteration has a timer of its own, which is added to the loop when it begins and is gone when it ends: when the
    /// `for` loop is left, the task is cancelled, or the iterator is let go of. Only the newest instant is kept for who is
    /// slow. The sequence ends when the loop's thread ends. Any thread, any task. O(log timers) per mode.
    ///
    /// - Parameters:
    ///   - interval: the grid, greater than zero (anything else is a precondition failure).
    ///   - tolerance: how much later a tick may come, to share a wake-up.
    public func ticks(
        every interval: Duration, tolerance: Duration = .zero, inMode mode: Mode = .common
    ) -> some AsyncSequence<Instant, Never> & Sendable {
        precondition(interval > .zero, "A timer repeats at an interval greater than zero.")
        return LoopSequence<Instant> { continuation in
            let end = EndOfSequence(continuation)
            let timer = Timer(every: interval, tolerance: tolerance) { timer in
                if let date = timer.nextFireDate { end.continuation.yield(date) }
            }
            continuation.onTermination = { [weak timer] _ in timer?.invalidate() }
            self.add(timer, forMode: mode)
        }
    }

    /// What the loop does, as a sequence. Its observer comes and goes as the timer of `ticks` does. Only the newest activity
    /// is kept: whoever must see each one, or act before the loop goes on, needs an `Observer`.
    public func activities(
        _ activities: Observer.Activities, inMode mode: Mode = .common
    ) -> some AsyncSequence<Observer.Activities, Never> & Sendable {
        LoopSequence<Observer.Activities> { continuation in
            let end = EndOfSequence(continuation)
            let observer = Observer(activities) { _, activity in end.continuation.yield(activity) }
            continuation.onTermination = { [weak observer] _ in observer?.invalidate() }
            self.add(observer, forMode: mode)
        }
    }

    /// The state of a descriptor, as a sequence: an element when one of the conditions holds, then the next one only after it
    /// was asked for, so that who reads a little at a time is told again, and nobody is told while he reads.
    ///
    /// Each iteration has a source of its own, which is in the loop only while an element is waited for. It is gone when the
    /// iteration ends, as for `ticks`; the descriptor may be closed then. From the first question to the end of the iteration
    /// the mode is not empty (R23). The sequence ends when the loop's thread ends.
    /// Any thread, any task. O(1) per mode and element, and two system calls.
    ///
    /// - Parameters:
    ///   - descriptor: non-blocking; stays the caller's.
    ///   - events: at least one condition. Errors and hang-ups are told in any case.
    /// - Returns: a sequence that throws `invalid`, `badDescriptor`, `permissionDenied` and what else adding a source can.
    public func readiness(
        of descriptor: CInt, for events: Source.Readiness = .read, inMode mode: Mode = .common
    ) -> some AsyncSequence<Source.Readiness, RunLoop.Error> & Sendable {
        ReadinessSequence(loop: self, descriptor: descriptor, events: events, mode: mode)
    }
}
