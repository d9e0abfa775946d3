import Glibc
import RunLoopKitTesting
import Testing

/// How a program has ended, and what it has written.
struct Ending: Equatable {
    var status: CInt
    var output: String
}

/// Runs a program of the package, and waits for it on a thread of its own.
func runProgram(_ name: String, _ arguments: String = "", environment: String = "") async throws -> Ending {
    let path = try #require(pathOfProgram(name))
    return try await withRunLoopThread { try run(path: path, arguments, environment) }
}

/// The programs are in the build directory of the tests, which one of the process's arguments names.
func pathOfProgram(_ name: String) -> String? {
    for argument in CommandLine.arguments where argument.contains("/") {
        var directory = argument
        while let slash = directory.lastIndex(of: "/") {
            directory = String(directory[..<slash])
            let program = directory + "/" + name
            if access(program, X_OK) == 0 { return program }
        }
    }
    return nil
}

/// The rest of the command line is for the shell.
private func run(path: String, _ arguments: String, _ environment: String) throws -> Ending {
    let quoted = "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    let stream = try #require(popen("\(environment) SWIFT_BACKTRACE=enable=no timeout 600 \(quoted) \(arguments)", "r"))
    var output = ""
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), stream) != nil {
        output += String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
    return Ending(status: pclose(stream), output: output)
}
