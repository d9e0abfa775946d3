import Glibc
import Testing

@Suite struct AsyncMainTests {
    @Test("After one line in an async main, the main loop serves the initial thread for ever")
    func mainLoopServesInitialThread() async throws {
        let program = try #require(pathOfProgram())
        let (status, output) = try await withRunLoopThread { try run(program) }
        #expect(status == 0)
        #expect(
            output == """
                taken over: true
                main before await: true
                main after await: true
                main actor: true
                main queue: true
                timer of the main loop: true
                pool: false
                after a stop and a sequence: true

                """)
    }
}

/// The program is built into the directory of the tests, which is that of one of the process's arguments.
private func pathOfProgram() -> String? {
    for argument in CommandLine.arguments where argument.contains("/") {
        var directory = argument
        while let slash = directory.lastIndex(of: "/") {
            directory = String(directory[..<slash])
            let program = directory + "/async-main-program"
            if access(program, X_OK) == 0 { return program }
        }
    }
    return nil
}

/// What a program prints, and its exit status.
private func run(_ program: String) throws -> (status: CInt, output: String) {
    let quoted = "'" + program.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    let stream = try #require(popen("timeout 60 " + quoted, "r"))
    var output = ""
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), stream) != nil {
        output += String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
    return (pclose(stream), output)
}
