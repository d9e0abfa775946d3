#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Whole lines of text, in colours if somebody is looking. Any thread.
enum Terminal {
    enum Style: String {
        case title = "1"
        case good = "32"
        case bad = "1;31"
        case faint = "2"
    }

    /// A log or a pipe gets plain text. NO_COLOR is what people set who never want colours.
    static let isColoured = isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil

    static func print(_ text: String) { put(text, to: STDOUT_FILENO) }

    static func complain(_ text: String) { put(text, to: STDERR_FILENO) }

    /// One system call for the whole text, so that threads do not write into each other's lines.
    private static func put(_ text: String, to descriptor: CInt) {
        var rest = Array((text + "\n").utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno != EINTR && errno != EAGAIN { return }
            rest = rest.dropFirst(max(written, 0))
        }
    }
}

extension String {
    func styled(_ style: Terminal.Style) -> String {
        Terminal.isColoured ? "\u{1B}[\(style.rawValue)m\(self)\u{1B}[0m" : self
    }

    /// Padded at its left to a width.
    func right(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }

    /// Padded at its right to a width.
    func left(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

extension Int {
    func right(_ width: Int) -> String { String(self).right(width) }
}

extension Duration {
    /// As milliseconds, cut after the first decimal: what is not over is not rounded up.
    var milliseconds: String {
        let tenths = Int((self / .microseconds(100)).rounded(.down))
        return "\(tenths / 10).\(tenths % 10)"
    }
}
