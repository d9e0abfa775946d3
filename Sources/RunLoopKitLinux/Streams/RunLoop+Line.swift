#if os(Linux)
public import RunLoopKit

extension RunLoop {
    /// A line of input, or a mark for one that was skipped. See `lines(of:skippingLongerThan:bufferSize:inMode:)`.
    public enum Line: Hashable, Sendable {
        /// A line without its end. Text is UTF-8, and invalid bytes are replaced by U+FFFD.
        case text(String)
        /// A line that is longer than the limit. Its bytes are dropped.
        case tooLong
    }
}
#endif
