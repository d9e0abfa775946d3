/// The choices made on the command line.
struct Options {
    var fifo: String?
    var files: [Sensor] = []
    /// How many readings of a sensor a summary covers.
    var window = 10
    /// The interval at which to read all sensors.
    var interval: Duration?

    static let usage = """
        usage: sensors [OPTION VALUE] ...

          --fifo PATH          take readings from a FIFO, a number on each line
          --file NAME=PATH     ask for the number at the begin of a file, too
          --window COUNT       how many readings are summed up (10)
          --every SECONDS      ask each sensor so often

        Commands on the standard input: pause, resume, summary, quit.
        """

    /// - Throws: `Refusal`, with a sentence that says why.
    init(_ arguments: some Sequence<String>) throws(Refusal) {
        var rest = Array(arguments)[...]
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else { throw Refusal("\(option) needs a value.") }
            switch option {
            case "--fifo": fifo = value
            case "--file": files.append(try Self.file(value))
            case "--window":
                guard let count = Int(value), count > 0 else { throw Refusal("\"\(value)\" is no number of readings.") }
                window = count
            case "--every":
                guard let seconds = Double(value), seconds > 0, seconds < 1e9 else {
                    throw Refusal("\"\(value)\" is no number of seconds.")
                }
                interval = .seconds(seconds)
            default: throw Refusal("There is no option \(option).")
            }
        }
    }

    func sensors() -> [Sensor] {
        var sensors = [.load, .memory] + files
        if let interval { for index in sensors.indices { sensors[index].interval = interval } }
        return sensors
    }

    private static func file(_ text: String) throws(Refusal) -> Sensor {
        let parts = text.split(separator: "=", maxSplits: 1)
        if parts.count < 2 { throw Refusal("\"\(text)\" is no sensor; fan=/sys/…/fan1_input would be one.") }
        return .file(String(parts[1]), name: String(parts[0]))
    }
}

/// The reason why a command line is refused.
struct Refusal: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
