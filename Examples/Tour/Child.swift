#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A child process, with our ends of the pipes to which it writes. The caller closes those, and waits.
struct Child {
    let output: Descriptor
    let errors: Descriptor
    private let process: pid_t

    init(_ command: String, _ arguments: String...) throws(Mishap) {
        let (output, outputOfChild) = try Descriptor.makePipe()
        let (errors, errorsOfChild) = try Descriptor.makePipe()
        // Ours never block. The child's ends do: it waits when the pipe is full.
        try output.stopBlocking()
        try errors.stopBlocking()
        // Closing the last writing end is what the reader sees as the end, so ours must go.
        defer {
            outputOfChild.close()
            errorsOfChild.close()
        }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, outputOfChild.number, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errorsOfChild.number, STDERR_FILENO)

        let argumentVector = Self.vector([command] + arguments)
        let environment = Self.vector(["PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"])
        defer { for string in argumentVector + environment { free(string) } }
        var process: pid_t = 0
        let result = posix_spawnp(&process, command, &actions, nil, argumentVector, environment)
        if result != 0 { throw Mishap(system: "posix_spawnp \(command)", result) }
        (self.output, self.errors, self.process) = (output, errors, process)
    }

    /// C strings, to be freed, with `nil` at the end.
    private static func vector(_ strings: [String]) -> [UnsafeMutablePointer<CChar>?] {
        strings.map { string in strdup(string) } + [nil]
    }

    /// How the process ended: 0 is well. Blocks until it has, which is brief once its output has ended.
    func wait() -> CInt {
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status
    }
}
