/// The waiting output of one client: bounded, so that a client that does not read costs a known amount of memory.
struct OutputBuffer {
    private let limit: Int
    private var bytes: [UInt8] = []
    /// The bytes before this one have been sent.
    private var start = 0

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }

    /// - Returns: `false` if there is no space; then nothing was added.
    mutating func append(_ line: String) -> Bool {
        let added = line.utf8.count + 1
        if count + added > limit { return false }
        bytes.append(contentsOf: line.utf8)
        bytes.append(UInt8(ascii: "\n"))
        return true
    }

    /// Drops all lines that have not begun, to make space for this one.
    mutating func replaceUnsent(with line: String) {
        // A part of a line may have been sent already. Its rest stays, so that the new line begins on its own.
        if start == 0 || bytes[start - 1] == UInt8(ascii: "\n") {
            bytes.removeSubrange(start...)
        } else if let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            bytes.removeSubrange((end + 1)...)
        }
        bytes.append(contentsOf: line.utf8)
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Lets `send` consume bytes from the front, as many as it can. It returns their number.
    mutating func flush(_ send: (UnsafeRawBufferPointer) throws -> Int) throws {
        if isEmpty { return }
        start += try bytes[start...].withUnsafeBytes(send)
        // Moving the rest to the front pays off only now and then.
        if isEmpty {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 16_384)
            start = 0
        } else if start > limit / 2 {
            bytes.removeSubrange(..<start)
            start = 0
        }
    }
}
