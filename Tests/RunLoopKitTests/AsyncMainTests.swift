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

    @Test("R109 A run nested in a job of the main actor runs no other job, and a diagnostic says so")
    func noteAboutNestedRun() async throws {
        let program = try #require(pathOfProgram())
        let (status, output) = try await withRunLoopThread { try run(program, "nested 2>&1") }
        #expect(status == 0)
        #expect(
            output.hasPrefix("runloop: Work for the main dispatch queue or the main actor has been waiting for 250 ms"))
        #expect(output.hasSuffix("the nested run has ended\nthe job that waited\n"))
        let quiet = try await withRunLoopThread {
            try run(program, "nested 2>&1", environment: "RUNLOOP_DIAGNOSTICS=0")
        }
        #expect(quiet.output == "the nested run has ended\nthe job that waited\n")
    }
}

/// The program is in the build directory of the tests, which one of the process's arguments names.
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

/// The output of a program, and its exit status. The rest of the command line is for the shell.
private func run(
    _ program: String, _ arguments: String = "", environment: String = ""
) throws -> (status: CInt, output: String) {
    let quoted = "'" + program.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    let stream = try #require(popen("\(environment) timeout 60 \(quoted) \(arguments)", "r"))
    var output = ""
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), stream) != nil {
        output += String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
    return (pclose(stream), output)
}
