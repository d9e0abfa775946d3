extension RunLoop {
    /// A line of input, or the place of one that was left out. See `lines(of:skippingLongerThan:bufferSize:inMode:)`.
    public enum Line: Hashable, Sendable {
        /// Without its end. Text is UTF-8, and what is not is replaced by U+FFFD.
        case text(String)
        /// Longer than the limit: nothing of it is kept.
        case tooLong
    }
}
