/// The choices made on the command line.
struct Options: Sendable {
    var port: UInt16 = 0
    /// Listen on all addresses instead of only on this machine's loopback.
    var everywhere = false
    /// A client that is silent for so long is disconnected.
    var idleLimit = Duration.seconds(600)
    /// How often the status is printed.
    var statusInterval = Duration.seconds(60)
    /// How long the goodbye may take.
    var farewell = Duration.seconds(5)
    /// How much output may wait for a client that does not read, in bytes.
    var outputLimit = 256 * 1024
    /// The maximal length of a line, in bytes; longer ones are cut off.
    var lineLimit = 4096

    static let usage = """
        usage: chat [PORT] [OPTION VALUE] ...

          PORT                 where to listen; 0, and the default: any free port, printed at the start
          --everywhere yes     listen on all addresses, not only on 127.0.0.1
          --idle SECONDS       show out who says nothing for so long (600)
          --status SECONDS     print the status so often (60)
          --farewell SECONDS   how long the goodbye may take (5)
          --output BYTES       disconnect who lets so much wait unread (262144)
          --line BYTES         cut off lines that are longer (4096)
        """

    /// - Throws: `Refusal`, with a sentence that says why.
    init(_ arguments: some Sequence<String>) throws(Refusal) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            if !argument.hasPrefix("-") {
                guard let port = UInt16(argument) else { throw Refusal("\"\(argument)\" is no port.") }
                self.port = port
                continue
            }
            guard let value = rest.popFirst() else { throw Refusal("\(argument) needs a value.") }
            switch argument {
            case "--everywhere": everywhere = value == "yes"
            case "--idle": idleLimit = try Self.seconds(value)
            case "--status": statusInterval = try Self.seconds(value)
            case "--farewell": farewell = try Self.seconds(value)
            case "--output": outputLimit = try Self.bytes(value)
            case "--line": lineLimit = try Self.bytes(value)
            default: throw Refusal("There is no option \(argument).")
            }
        }
    }

    private static func seconds(_ text: String) throws(Refusal) -> Duration {
        guard let seconds = Double(text), seconds > 0, seconds < 1e9 else {
            throw Refusal("\"\(text)\" is no number of seconds.")
        }
        return .seconds(seconds)
    }

    private static func bytes(_ text: String) throws(Refusal) -> Int {
        guard let bytes = Int(text), bytes > 0 else { throw Refusal("\"\(text)\" is no number of bytes.") }
        return bytes
    }
}

/// The reason why a command line is refused.
struct Refusal: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
