#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The Glibc module hides `fork`, because the child must not use what other threads were changing. These children don't.
@_silgen_name("fork")
package func forkProcess() -> CInt

/// Calls `body` in a forked child, which is ended by a signal if it hangs. The status of `waitpid`: 0 if all is well.
package func statusOfChild(_ body: () -> Void) -> CInt {
    let child = forkProcess()
    if child == 0 {
        // The thread may have its signals blocked, as those of the tasks' pool have.
        var none = sigset_t()
        sigemptyset(&none)
        sigprocmask(SIG_SETMASK, &none, nil)
        alarm(600)
        body()
        _exit(0)
    }
    var status: CInt = -1
    precondition(child > 0 && waitpid(child, &status, 0) == child)
    return status
}

/// Its runtime is in the process. There the Swift runtime takes a lock at each use of a lazily made value, and a fork may
/// happen while another thread holds it. So such a fork is tested without the sanitizer only.
package let isUnderThreadSanitizer = dlsym(nil, "__tsan_init") != nil

package let isUnderAddressSanitizer = dlsym(nil, "__asan_init") != nil
