#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The choices made on the command line.
struct Options: Sendable {
    var port: UInt16 = 0
    /// One for each core.
    var loops = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    /// A loop keeps a connection as long as it has at most so many more than the one that has the fewest.
    var slack = 4
    /// How long the requests that have begun may take after the signal that ends the server.
    var patience = Duration.seconds(5)

    static let usage = """
        usage: scale-out [PORT] [OPTION VALUE] ...

          PORT                 where to listen on 127.0.0.1; 0, and the default: any free port, printed at the start
          --loops NUMBER       how many loops, each with a thread (one for each core)
          --slack NUMBER       hand over what is more than the fewest connections of a loop and so many (4)
          --patience SECONDS   how long requests may take at the end (5)
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
            case "--loops": loops = try Self.number(value, in: 1...1024)
            case "--slack": slack = try Self.number(value, in: 0...1_000_000)
            case "--patience": patience = .seconds(try Self.number(value, in: 1...3600))
            default: throw Refusal("There is no option \(argument).")
            }
        }
    }

    private static func number(_ text: String, in range: ClosedRange<Int>) throws(Refusal) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw Refusal("\"\(text)\" is no number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}

/// The reason why a command line is refused.
struct Refusal: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
