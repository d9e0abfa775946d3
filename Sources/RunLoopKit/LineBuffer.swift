/// Makes lines of bytes that arrive in portions.
///
/// A portion is not copied but for the begin of a line whose end has not come yet. It must be used up, by asking for lines
/// until there is none, before its memory changes.
struct LineBuffer {
    private let limit: Int
    /// The begin of a line, from earlier portions: at most the limit, and a carriage return.
    private var begun: [UInt8] = []
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

    /// The next line whose end has come. Throws `lineTooLong`, also when the end of such a line is still to come.
    mutating func next() throws(RunLoop.Error) -> String? {
        guard let end = firstOffset(of: lineFeed, in: portion) else {
            try begin(portion[...])
            portion = UnsafeRawBufferPointer(start: nil, count: 0)
            return nil
        }
        let rest = portion[..<end]
        portion = UnsafeRawBufferPointer(rebasing: portion[(end + 1)...])
        if begun.isEmpty { return try text(withoutReturn(rest)) }
        try begin(rest)
        defer { begun.removeAll(keepingCapacity: true) }
        return try text(withoutReturn(begun[...]))
    }

    /// What was begun and not ended: the last line of an input that ends without a line feed.
    mutating func last() throws(RunLoop.Error) -> String? {
        if begun.isEmpty { return nil }
        defer { begun = [] }
        return try text(begun[...])
    }

    private mutating func begin(_ bytes: Slice<UnsafeRawBufferPointer>) throws(RunLoop.Error) {
        // One more than the limit may be a carriage return before the line feed.
        guard bytes.count <= limit + 1 - begun.count else { throw .lineTooLong }
        begun.append(contentsOf: bytes)
        if begun.count == limit + 1 && begun.last != carriageReturn { throw .lineTooLong }
    }

    private func text(_ line: some Collection<UInt8>) throws(RunLoop.Error) -> String {
        if line.count > limit { throw .lineTooLong }
        return String(decoding: line, as: UTF8.self)
    }
}

private let lineFeed = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")

private func withoutReturn<Bytes: RandomAccessCollection<UInt8>>(_ line: Bytes) -> Bytes.SubSequence {
    line.last == carriageReturn ? line.dropLast() : line[...]
}
