/// Makes lines of what arrives. What arrives are bytes, not lines: half a line, or several.
struct LineBuffer {
    enum Line: Equatable {
        case text(String)
        /// Longer than allowed. The rest of it is skipped, not kept: memory is bounded whatever somebody sends.
        case tooLong
    }

    private let limit: Int
    private var pending: [UInt8] = []
    private var isSkipping = false

    init(limit: Int) {
        self.limit = limit
    }

    /// The lines that these bytes complete.
    mutating func append(_ bytes: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            add(rest[..<end], to: &lines)
            finishLine(&lines)
            rest = rest[(end + 1)...]
        }
        add(rest, to: &lines)
        return lines
    }

    /// What came after the last line end, when nothing will follow.
    mutating func end() -> [Line] {
        var lines: [Line] = []
        if !pending.isEmpty { finishLine(&lines) }
        return lines
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>, to lines: inout [Line]) {
        if isSkipping { return }
        if pending.count + bytes.count <= limit { return pending.append(contentsOf: bytes) }
        pending = []
        isSkipping = true
        lines.append(.tooLong)
    }

    private mutating func finishLine(_ lines: inout [Line]) {
        if !isSkipping { lines.append(.text(Self.text(pending))) }
        pending.removeAll(keepingCapacity: true)
        isSkipping = false
    }

    /// What is not UTF-8 becomes the replacement character, and control characters go: they would reach the terminals of
    /// everybody else.
    private static func text(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return String(
            String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }
}
