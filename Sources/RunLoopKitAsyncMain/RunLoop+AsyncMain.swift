internal import CRunLoopAsyncMain
public import RunLoopKit

extension RunLoop {
    /// Has the main loop serve the initial thread of a program whose `main` is `async`.
    ///
    ///     @main struct Program {
    ///         static func main() async {
    ///             RunLoop.takeOverAsyncMain()
    ///             …
    ///         }
    ///     }
    ///
    /// On Linux the initial thread of such a program sleeps for ever from the first `await` on, and the main actor moves to
    /// other threads. After this call `RunLoop.main` runs there instead, in the default mode, for as long as the program does: the
    /// main actor, the main dispatch queue, and all that is added to `RunLoop.main` are served on the initial thread. A
    /// `stop()` of the loop ends no more than runs nested in it. The program ends when `main` returns.
    ///
    /// The first statement of `main`, or of main.swift, on the initial thread; anything else is a precondition failure. After
    /// the first `await` it is too late, and nothing says so. Twice is once. A run that is nested in a job of the main actor
    /// serves neither the main actor nor the main queue (R109). O(1).
    ///
    /// This uses a hook of the Swift runtime that is exported, but not documented; a future runtime may not have it.
    ///
    /// - Returns: `false` if the runtime has no such hook: then everything is as without the call.
    @discardableResult
    public static func takeOverAsyncMain() -> Bool {
        precondition(
            RunLoop.main.isCurrent, "The initial thread is taken over by the initial thread, before its first await.")
        return runloop_async_main_take_over {
            while true { RunLoop.main.run() }
        }
    }
}
