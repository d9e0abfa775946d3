/// The choices made on the command line.
struct Options {
    /// How many existing lines are printed.
    var lines = 0
    /// How long ending may take if the reader of the output is slow.
    var patience = Duration.seconds(1)
    var paths: [String] = []

    static let usage = "usage: follow [-n LINES] [-w SECONDS] PATH ..."

    /// - Throws: `Refusal`, with a sentence that says why.
    init(_ arguments: some Sequence<String>) throws(Refusal) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "-n":
                guard let lines = rest.popFirst().flatMap(Int.init), lines >= 0 else {
                    throw Refusal("-n needs a number of lines.")
                }
                self.lines = lines
            case "-w":
                guard let seconds = rest.popFirst().flatMap(Double.init), seconds >= 0, seconds < 1e9 else {
                    throw Refusal("-w needs a number of seconds.")
                }
                patience = .seconds(seconds)
            case "--":
                paths += rest
                rest = []
            case _ where argument.hasPrefix("-"):
                throw Refusal("There is no option \(argument).")
            default:
                paths.append(argument)
            }
        }
        if paths.isEmpty || paths.contains("") { throw Refusal("There is nothing to follow.") }
    }
}

/// The reason why a command line is refused.
struct Refusal: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
