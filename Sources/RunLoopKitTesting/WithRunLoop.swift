#if os(Linux)
public import RunLoopKit

/// Calls `body` on a new thread with that thread's loop, and returns or throws what it returned or threw.
///
///     @Test func receives() async throws {
///         try await withRunLoop { loop in
///             …
///             try loop.runUntil("a message has come") { !messages.isEmpty }
///         }
///     }
///
/// The loop is new: it has no items, and does not run until `body` runs it. The thread ends after `body`, and its loop is
/// freed, before this returns. No thread of the task pool is blocked, so any number of such tests run at a time. Cancellation
/// has no effect: `body` is synchronous, and always ends by itself.
///
/// - Parameter name: what debuggers show for the thread; Linux keeps 15 bytes.
/// - Throws: what `body` throws. It is a precondition failure if no thread can be started.
public func withRunLoop<Value, Failure: Error>(
    name: String = "run loop test", _ body: sending @escaping (RunLoop) throws(Failure) -> sending Value
) async throws(Failure) -> sending Value {
    let call = AwaitedCall(atEnd: .perform) { () throws(Failure) in try body(RunLoop.current) }
    // One thread waits for the other to end, so that the loop has been freed when the caller continues.
    await elsewhere("awaits a test") {
        PosixThread.start(name) { call.run() }.join()
    }
    return try await call.waitForBody(isolation: #isolation)
}

/// Calls the asynchronous `body` with the loop of a new thread, which runs while `body` does.
///
/// The loop runs in the default mode, and `body` runs in its own isolation, on other threads: for tests of how actors, tasks
/// and other threads use a running loop. When `body` has ended, the thread is stopped and joined; closures that it has accepted
/// are called. No thread of the task pool is blocked.
///
/// - Throws: what `body` throws. It is a precondition failure if no thread can be started.
public func withRunningLoop<Value, Failure: Error>(
    name: String = "run loop test", isolation: isolated (any Actor)? = #isolation,
    _ body: (RunLoop.Thread) async throws(Failure) -> sending Value
) async throws(Failure) -> sending Value {
    let thread = await startedThread(name)
    let result: Result<Value, Failure>
    do throws(Failure) {
        result = .success(try await body(thread))
    } catch {
        result = .failure(error)
    }
    await end(thread)
    return try result.get()
}

//===-- threads ------------------------------------------------------------------------------------------------------===//

/// Calls `body`, which may block, on a thread of its own, and awaits its result.
private func elsewhere<Value: Sendable>(_ name: String, _ body: @escaping @Sendable () -> Value) async -> Value {
    let answer = Answer<Value, Never>()
    PosixThread.start(name) { answer.settle(.success(body())) }.detach()
    return await answer.wait(isolation: #isolation, onCancel: {})
}

/// Made on another thread, because `init` waits until the loop runs.
private func startedThread(_ name: String) async -> RunLoop.Thread {
    await elsewhere("starts a test") {
        do {
            return try RunLoop.Thread(name: name)
        } catch {
            preconditionFailure("A test needs a thread with a loop. \(error)")
        }
    }
}

private func end(_ thread: RunLoop.Thread) async {
    await elsewhere("awaits a test") {
        thread.stop()
        thread.join()
    }
}
#endif
