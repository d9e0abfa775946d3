import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

@Suite struct ChildTests {
    @Test("A task awaits the exit of an adopted child, which is reaped")
    func awaits() async throws {
        let thread = try RunLoop.Thread()
        let pid = try startShell("exit 7")
        let child = try RunLoop.Child(adopting: pid, on: thread.loop)
        let exit = try await child.exit()
        #expect(exit.reason == .exited(7))
        #expect(exit.process == pid)
        #expect(!exit.isSuccess)
        let usage = try #require(exit.usage)
        #expect(usage.peakMemory.map { $0 > 0 } ?? true)
        #expect(child.exitIfEnded == exit)
        // Again, from the past.
        #expect(try await child.exit() == exit)
        #expect(waitpid(pid, nil, WNOHANG) == -1)
        #expect(throws: RunLoop.Error.noSuchProcess) { try child.send(SIGTERM) }
    }

    @Test("A watched child is its owner's, by pid and by pidfd")
    func watches() async throws {
        let thread = try RunLoop.Thread()
        let pid = try startShell("exec sleep 1000")
        let (one, two) = (Handed<RunLoop.Child.Exit>(), Handed<RunLoop.Child.Exit>())
        let byPid = try RunLoop.Child(watching: pid, on: thread.loop) { one.put($0) }
        let byPidfd = try RunLoop.Child(borrowing: byPid.fileDescriptor, on: thread.loop) { two.put($0) }
        #expect(byPid.exitIfEnded == nil)
        try byPidfd.send(SIGKILL)
        let first = try await byPid.exit()
        let second = try await byPidfd.exit()
        #expect(first.reason == .signalled(SIGKILL, dumpedCore: false))
        #expect(second.reason == first.reason)
        #expect(second.process == nil)
        #expect(one.take() == first)
        #expect(two.take() == second)
        var status: CInt = 0
        #expect(waitpid(pid, &status, WNOHANG) == pid)
    }

    @Test("An adopted child is reaped though its value is gone; a watched one is not watched any more")
    func destroyed() async throws {
        let thread = try RunLoop.Thread()
        let freed = Count()
        let (adopted, watched) = (try startShell("exec sleep 1000"), try startShell("exec sleep 1000"))
        let (called, mode) = (Count(), RunLoop.Mode("watched"))
        do {
            let token = Token(freed)
            _ = try RunLoop.Child(adopting: adopted, on: thread.loop) { _ in token.touch() }
            let child = try RunLoop.Child(watching: watched, on: thread.loop, inMode: mode) { _ in
                token.touch()
                called.increment()
            }
            #expect(!thread.loop.isEmpty(inMode: mode))
            withExtendedLifetime(child) {}
        }
        #expect(thread.loop.isEmpty(inMode: mode))
        kill(watched, SIGKILL)
        kill(adopted, SIGKILL)
        // Nobody reaps it here.
        #expect(
            try await eventually {
                var info = siginfo_t()
                return waitid(P_PID, id_t(adopted), &info, CInt(WEXITED | WNOHANG | WNOWAIT)) == -1 && errno == ECHILD
            })
        #expect(waitpid(watched, nil, 0) == watched)
        #expect(called.value == 0)
        #expect(try await eventually { freed.value == 1 })
    }

    @Test("The ends of many children are a sequence, which ends with the last")
    func sequence() async throws {
        let thread = try RunLoop.Thread()
        let pids = try (0..<20).map { try startShell("exit \($0)") }
        var statuses: [Int32: CInt] = [:]
        for await exit in try thread.loop.exits(adopting: pids) {
            guard case .exited(let status) = exit.reason, let process = exit.process else { continue }
            statuses[process] = status
        }
        for (index, pid) in pids.enumerated() { #expect(statuses[pid] == CInt(index)) }
    }

    @Test("Waiting ends when the task is cancelled, and when the loop's thread ends")
    func ends() async throws {
        let pid = try startShell("exec sleep 1000")
        defer {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
        }
        let thread = try RunLoop.Thread()
        let child = SharedChild(try RunLoop.Child(watching: pid, on: thread.loop))
        let cancelled = Task { try await child.child.exit() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let waiting = Task { try await child.child.exit() }
        thread.stop()
        await #expect(throws: RunLoop.Error.loopFinished) { try await waiting.value }
    }

    @Test("What is not a child, gone, or no pidfd is refused")
    func refused() async throws {
        let thread = try RunLoop.Thread()
        let gone = try startShell("exit 0")
        #expect(waitpid(gone, nil, 0) == gone)
        #expect(throws: RunLoop.Error.noSuchProcess) { _ = try RunLoop.Child(watching: gone, on: thread.loop) }
        #expect(throws: RunLoop.Error.notAChild) { _ = try RunLoop.Child(adopting: getpid(), on: thread.loop) }
        #expect(throws: RunLoop.Error.invalid) { _ = try RunLoop.Child(adopting: 0, on: thread.loop) }
        #expect(throws: RunLoop.Error.badDescriptor) {
            _ = try RunLoop.Child(borrowing: STDIN_FILENO, on: thread.loop)
        }
        let pid = try startShell("exit 3")
        #expect(throws: RunLoop.Error.noSuchProcess) { _ = try thread.loop.exits(adopting: [pid, gone]) }
        var status: CInt = 0
        #expect(waitpid(pid, &status, 0) == pid && status == 3 << 8)
    }
}

final class SharedChild: Sendable {
    let child: RunLoop.Child
    init(_ child: consuming RunLoop.Child) { self.child = child }
}

/// Starts a shell with a command.
func startShell(_ command: String) throws -> Int32 {
    var pid: pid_t = 0
    let words: [String] = ["sh", "-c", command]
    let arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    // Threads of tasks have all signals blocked, and a program would inherit that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let result = posix_spawn(&pid, "/bin/sh", nil, &attributes, arguments, environ)
    return try #require(result == 0 ? pid : nil)
}
