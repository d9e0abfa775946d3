/// The request that a line makes.
enum Command: Equatable {
    case nothing
    case say(String)
    case act(String)
    case rename(String)
    case whisper(to: String, String)
    case who
    case help
    case quit(String)
    case unknown(String)

    static let list = [
        "* /nick NAME        change your name",
        "* /who              who is here",
        "* /me DOES          say what you do",
        "* /msg NAME TEXT    say something to one of them only",
        "* /quit [TEXT]      leave",
    ]

    init(_ line: String) {
        let line = line.trimmed
        if !line.hasPrefix("/") {
            self = line.isEmpty ? .nothing : .say(line)
            return
        }
        let (word, rest) = line.firstWord
        switch word {
        case "/nick": self = .rename(rest)
        case "/who": self = .who
        case "/me": self = rest.isEmpty ? .nothing : .act(rest)
        case "/msg":
            let (name, text) = rest.firstWord
            self = .whisper(to: name, text)
        case "/quit": self = .quit(rest)
        case "/help": self = .help
        default: self = .unknown(word)
        }
    }

    /// Why a name is refused, or `nil`. People compare names by eye, so they must be short and plain.
    static func objection(to name: String) -> String? {
        if name.isEmpty { return "A name has at least one letter: /nick NAME" }
        if name.count > 20 { return "A name has at most 20 letters." }
        let isPlain = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
        return isPlain ? nil : "A name is made of letters and digits."
    }
}

extension String {
    fileprivate var trimmed: String {
        guard let start = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else {
            return ""
        }
        return String(self[start...last])
    }

    /// The first word, and the rest.
    fileprivate var firstWord: (String, String) {
        let end = firstIndex(where: \.isWhitespace) ?? endIndex
        return (String(self[..<end]), String(self[end...]).trimmed)
    }
}
