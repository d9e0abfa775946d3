internal import CRunLoopExperimental
public import RunLoopKit

extension RunLoop {
    /// Runs the main loop on the initial thread of a program whose `main` is `async`.
    ///
    ///     @main struct Program {
    ///         static func main() async {
    ///             RunLoop.takeOverAsyncMain()
    ///             …
    ///         }
    ///     }
    ///
    /// On Linux the initial thread of such a program sleeps for ever from the first `await` on, and the main actor moves to
    /// other threads. After this call `RunLoop.main` runs there instead, in the default mode, until the program ends: the
    /// initial thread serves the main actor, the main dispatch queue, and the items of `RunLoop.main`. `stop()` of the loop
    /// only ends runs that are nested in it. The program ends when `main` returns.
    ///
    /// Call it as the first statement of `main`, or of main.swift. It is a precondition failure on another thread than the
    /// initial one. After the first `await` it is too late, which is not detected. A second call has no effect. A run that is
    /// nested in a job of the main actor serves neither the main actor nor the main queue (R109). O(1).
    ///
    /// It uses a hook that the Swift runtime exports but does not document; a future runtime may not have it.
    ///
    /// - Returns: `false` if the runtime has no such hook; then the call has no effect.
    @discardableResult
    public static func takeOverAsyncMain() -> Bool {
        precondition(
            RunLoop.main.isCurrent, "The initial thread is taken over by the initial thread, before its first await.")
        return runloop_async_main_take_over {
            while true { RunLoop.main.run() }
        }
    }
}
