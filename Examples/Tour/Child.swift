#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A child process, and this side's ends of the pipes to which it writes. The caller closes those ends and waits.
struct Child {
    let output: Descriptor
    let errors: Descriptor
    private let process: pid_t

    init(_ command: String, _ arguments: String...) throws(Mishap) {
        let (output, outputOfChild) = try Descriptor.makePipe()
        let (errors, errorsOfChild) = try Descriptor.makePipe()
        // This side's ends never block. The child's ends do: it waits while the pipe is full.
        try output.stopBlocking()
        try errors.stopBlocking()
        // The reader sees the end when the last writing end is closed, so this copy must be closed.
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

    /// C strings, which the caller frees, with `nil` at the end.
    private static func vector(_ strings: [String]) -> [UnsafeMutablePointer<CChar>?] {
        strings.map { string in strdup(string) } + [nil]
    }

    /// Gives up both ends, and leaves it to the caller to wait for the process.
    func detach() -> pid_t {
        output.close()
        errors.close()
        return process
    }

    /// The exit status of the process; 0 is success. Blocks until it has ended, which is brief once its output has ended.
    func wait() -> CInt {
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status
    }
}
