#if os(Linux)
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop {
    /// Reaps processes whose parents have ended, as the first process of a container (PID 1) must: the kernel gives them to it, and they
    /// would remain there as zombies. For the first lines of a program:
    ///
    ///     if getpid() == 1 { try RunLoop.reapOrphans() }
    ///
    /// The program is executed once more, with the same arguments and environment, as a child of this process, which does nothing from
    /// then on but reap, and pass on the signals that other processes send to it; in the new process this returns at once. What the
    /// program did before is done twice. A status that somebody in the program waits for (Foundation's `Process`, Subprocess, a ``Child``)
    /// is never taken, since the program's own children are not those of the reaper. When the program ends, the reaper ends as that did,
    /// in a container with all that is left there. Any further call has no effect.
    ///
    /// - Throws: `inUse` if there are other threads already, as there are in a `main` that is asynchronous once it has waited; what
    ///   starting a program throws.
    public static func reapOrphans() throws {
        let result = runloop_reap_orphans()
        if result < 0 {
            let subject = result == -ErrorNumber.inAnotherLoop ? "a process with several threads" : "/proc/self/exe"
            throw RunLoop.Error(result: result, of: .system, subject: subject)
        }
    }
}
#endif
