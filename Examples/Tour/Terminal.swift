#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Whole lines of text, in colours on a terminal. Any thread.
enum Terminal {
    enum Style: String {
        case title = "1"
        case good = "32"
        case bad = "1;31"
        case faint = "2"
    }

    /// A file or a pipe gets plain text. People who never want colours set NO_COLOR.
    static let isColoured = isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil

    static func print(_ text: String) { put(text, to: STDOUT_FILENO) }

    static func complain(_ text: String) { put(text, to: STDERR_FILENO) }

    /// Writes a file; false if that failed.
    static func save(_ text: String, to path: String) -> Bool {
        guard let file = fopen(path, "w") else { return false }
        let isWritten = fputs(text, file) >= 0
        return fclose(file) == 0 && isWritten
    }

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

    /// Padded on the left to a width.
    func right(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }

    /// Padded on the right to a width.
    func left(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

extension Int {
    func right(_ width: Int) -> String { String(self).right(width) }
}

extension Duration {
    /// As milliseconds, truncated after the first decimal and never rounded up.
    var milliseconds: String {
        let tenths = Int((self / .microseconds(100)).rounded(.down))
        return "\(tenths / 10).\(tenths % 10)"
    }
}
