/// Assembles lines. Bytes arrive, not lines: a part of a line, or several lines.
struct LineBuffer {
    enum Line: Equatable {
        case text(String)
        /// Longer than allowed. The rest of it is skipped, so memory is bounded whatever a client sends.
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

    /// The bytes after the last line end, once nothing more will follow.
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

    /// Invalid UTF-8 becomes the replacement character. Control characters are removed, because they would reach the terminals
    /// of all other clients.
    private static func text(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return String(
            String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }
}
