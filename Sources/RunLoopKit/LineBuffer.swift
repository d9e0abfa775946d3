/// Makes lines of bytes that arrive in portions.
///
/// A portion is not copied but for the begin of a line whose end has not come yet. It must be used up, by asking for lines
/// until there is none, before its memory changes.
struct LineBuffer {
    private let limit: Int
    /// The begin of a line, from earlier portions: at most the limit, and a carriage return.
    private var begun: [UInt8] = []
    /// The line that has begun is too long, which has been told.
    private var isSkipping = false
    private var portion = UnsafeRawBufferPointer(start: nil, count: 0)

    /// - Parameter limit: of a line without its end, in bytes.
    init(limit: Int) {
        self.limit = limit
    }

    mutating func feed(_ portion: UnsafeRawBufferPointer) {
        self.portion = portion
    }

    mutating func clear() {
        self = LineBuffer(limit: limit)
    }

    /// The next line whose end has come, or the news that one is too long, as soon as it is. That one is skipped to its end.
    mutating func next() -> RunLoop.Line? {
        while let end = firstOffset(of: lineFeed, in: portion) {
            let rest = portion[..<end]
            portion = UnsafeRawBufferPointer(rebasing: portion[(end + 1)...])
            if isSkipping {
                isSkipping = false
                continue
            }
            if begun.isEmpty { return line(withoutReturn(rest)) }
            defer { begun.removeAll(keepingCapacity: true) }
            return begin(rest) ? line(withoutReturn(begun[...])) : .tooLong
        }
        defer { portion = UnsafeRawBufferPointer(start: nil, count: 0) }
        if isSkipping || begin(portion[...]) { return nil }
        isSkipping = true
        begun = []
        return .tooLong
    }

    /// What was begun and not ended: the last line of an input that ends without a line feed.
    mutating func last() -> RunLoop.Line? {
        if begun.isEmpty { return nil }
        defer { begun = [] }
        return line(begun[...])
    }

    /// - Returns: can it be a line still?
    private mutating func begin(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        // One more than the limit may be a carriage return before the line feed.
        guard bytes.count <= limit + 1 - begun.count else { return false }
        begun.append(contentsOf: bytes)
        return begun.count <= limit || begun.last == carriageReturn
    }

    private func line(_ bytes: some Collection<UInt8>) -> RunLoop.Line {
        bytes.count > limit ? .tooLong : .text(String(decoding: bytes, as: UTF8.self))
    }
}

private let lineFeed = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")

private func withoutReturn<Bytes: RandomAccessCollection<UInt8>>(_ line: Bytes) -> Bytes.SubSequence {
    line.last == carriageReturn ? line.dropLast() : line[...]
}
