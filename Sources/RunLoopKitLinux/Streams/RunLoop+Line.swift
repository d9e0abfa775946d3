#if os(Linux)
public import RunLoopKit

extension RunLoop {
    /// A line of input, or a mark for one that was skipped. See `lines(of:skippingLongerThan:bufferSize:inMode:)`.
    ///
    ///     for try await line in loop.lines(of: 0, skippingLongerThan: 4096) {
    ///         switch line {
    ///         case .text(let text): take(text)
    ///         case .tooLong: print("a line of more than 4,096 bytes was skipped")
    ///         }
    ///     }
    public enum Line: Hashable, Sendable {
        /// A line without its end. Text is UTF-8, and invalid bytes are replaced by U+FFFD.
        case text(String)
        /// A line that is longer than the limit. Its bytes are dropped.
        case tooLong
    }
}
#endif
