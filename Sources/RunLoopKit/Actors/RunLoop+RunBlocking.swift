#if os(Linux)
extension RunLoop {
    /// Calls `body`, which may block, on a thread of its own, and returns or throws what it returned or threw. The task waits, and
    /// blocks no thread: the loop, and all other tasks, go on.
    ///
    ///     let text = try await RunLoop.runBlocking { describeDevice() }
    ///
    /// For calls that wait in the kernel for what no loop can wait for: files, name resolution, `waitpid`, locks of other processes.
    /// The thread is made for the call and ends with it, which costs some 20 µs. The number of such threads is not limited; limit the
    /// number of calls. `body` always ends, also if the task is cancelled, which the caller learns afterwards. Any task; the closure is
    /// freed on the thread.
    ///
    /// - Throws: what `body` throws; `tooManyThreads` or `outOfMemory` if there can be no thread, and then `body` has not been called.
    public static func runBlocking<Value>(
        isolation actor: isolated (any Actor)? = #isolation, _ body: sending @escaping () throws -> sending Value
    ) async throws -> sending Value {
        let call = AwaitedCall(atEnd: .perform, body)
        if case .outside(let end) = OutsideWork.begin({ call.run() }) {
            do {
                try PosixThread(name: "blocking", stackSize: nil) {
                    call.run()
                    end?()
                }.detach()
            } catch {
                call.fail(.thrown(error))
                end?()
            }
        }
        return try await call.waitForBody(isolation: actor)
    }
}
#endif
