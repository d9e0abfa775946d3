#if os(Linux)
extension RunLoop {
    /// The state of a descriptor, as a sequence. There is an element when one of the conditions holds, and no other one before
    /// the next call of `next()`. So a consumer that reads a little at a time gets another element, and none arrives while it
    /// reads.
    ///
    /// Each iteration over the sequence has a source of its own, which is in the loop only while `next()` waits. It is invalidated
    /// when the iteration ends, as for `ticks`; the descriptor may be closed then. From the first call of `next()` to the end of
    /// the iteration the mode is not empty (R23). The sequence ends when the loop's thread ends.
    /// Any thread, any task. O(1) per mode and element, and two system calls.
    ///
    /// - Parameters:
    ///   - descriptor: non-blocking; it remains the caller's.
    ///   - events: at least one condition. Errors and hang-ups are reported in any case.
    /// - Returns: a sequence that throws `invalid`, `badDescriptor`, `permissionDenied` and the other errors of adding a source.
    public func readiness(
        of descriptor: CInt, for events: Source.Readiness = .read, inMode mode: Mode = .common
    ) -> some AsyncSequence<Source.Readiness, any Swift.Error> & Sendable {
        SourceSequence<Source.Readiness>(loop: self, mode: mode) { yield in
            try Source(fileDescriptor: descriptor, events: events, perform: yield)
        }
    }
}
#endif
