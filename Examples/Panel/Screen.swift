#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The terminal on standard input and output. While it is taken, keys come at once and aren't shown, and nothing scrolls.
struct Screen {
    private let former: termios

    /// `nil` if there is no terminal.
    init?() {
        var attributes = termios()
        if tcgetattr(STDIN_FILENO, &attributes) != 0 || isatty(STDOUT_FILENO) == 0 { return nil }
        former = attributes
    }

    func take() {
        var attributes = former
        // Control-C and Control-Z stay signals, so whoever sends these is treated alike.
        attributes.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &attributes)
        show("\u{1B}[?1049h\u{1B}[?25l")
    }

    func release() {
        show("\u{1B}[?25h\u{1B}[?1049l")
        var attributes = former
        tcsetattr(STDIN_FILENO, TCSADRAIN, &attributes)
    }

    var size: (rows: Int, columns: Int) {
        var size = winsize()
        return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_row > 0
            ? (Int(size.ws_row), Int(size.ws_col)) : (24, 80)
    }

    func show(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0 { return }  // The terminal is gone, which the end of the input reports.
            rest = rest.dropFirst(count)
        }
    }
}
