internal import RunLoopKit

/// Makes lines of bytes that arrive in chunks.
///
/// Of a chunk only the beginning of a line whose end has not arrived is copied. Before the memory of a chunk changes, `next()` must
/// have returned `nil`.
@safe struct LineBuffer {
    private let limit: Int
    /// The beginning of a line, from earlier chunks: at most the limit, and a carriage return.
    private var begun: [UInt8] = []
    /// The current line is too long, which has been reported.
    private var isSkipping = false
    private var chunk = unsafe UnsafeRawBufferPointer(start: nil, count: 0)

    /// - Parameter limit: of a line without its end, in bytes.
    init(limit: Int) {
        self.limit = limit
    }

    mutating func feed(_ chunk: UnsafeRawBufferPointer) {
        unsafe self.chunk = chunk
    }

    mutating func clear() {
        self = LineBuffer(limit: limit)
    }

    /// The next line whose end has arrived, or a mark for a line as soon as it is too long. The rest of such a line is skipped.
    mutating func next() -> RunLoop.Line? {
        while let end = unsafe firstOffset(of: lineFeed, in: chunk) {
            let rest = unsafe chunk[..<end]
            unsafe chunk = UnsafeRawBufferPointer(rebasing: chunk[(end + 1)...])
            if isSkipping {
                isSkipping = false
                continue
            }
            if begun.isEmpty { return unsafe line(withoutReturn(rest)) }
            defer { begun.removeAll(keepingCapacity: true) }
            return unsafe begin(rest) ? line(withoutReturn(begun[...])) : .tooLong
        }
        defer { unsafe chunk = UnsafeRawBufferPointer(start: nil, count: 0) }
        if unsafe isSkipping || begin(chunk[...]) { return nil }
        isSkipping = true
        begun = []
        return .tooLong
    }

    /// The last line of an input that ends without a line feed.
    mutating func last() -> RunLoop.Line? {
        if begun.isEmpty { return nil }
        defer { begun = [] }
        return line(begun[...])
    }

    /// - Returns: is the line still within the limit?
    private mutating func begin(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        // The byte after the limit may be a carriage return before the line feed.
        guard unsafe bytes.count - 1 <= limit - begun.count else { return false }
        unsafe begun.append(contentsOf: bytes)
        return begun.count <= limit || begun.last == carriageReturn
    }

    private func line(_ bytes: some Collection<UInt8>) -> RunLoop.Line {
        bytes.count > limit ? .tooLong : .text(String(decoding: bytes, as: UTF8.self))
    }
}

let lineFeed = UInt8(ascii: "\n")
let carriageReturn = UInt8(ascii: "\r")

private func withoutReturn<Bytes: RandomAccessCollection<UInt8>>(_ line: Bytes) -> Bytes.SubSequence {
    line.last == carriageReturn ? line.dropLast() : line[...]
}
