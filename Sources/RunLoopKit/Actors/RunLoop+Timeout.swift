#if os(Linux)
extension RunLoop {
    /// Calls `body`, and cancels it when `limit` has passed by this loop's clock.
    ///
    ///     let line = try await loop.withTimeout(.seconds(5)) { try await reader.line() }
    ///
    /// It returns when `body` has ended, which a cancellation asks it to do: one that takes no notice goes on, and so does this call. What
    /// `body` returns or throws after the limit is dropped, so whatever it takes from somewhere by then is lost. For a limit that ends a
    /// connection, and that drops nothing, see `deadline` of a connection.
    ///
    /// `body` is called on the caller's actor, while the caller waits, so it may use what the caller uses. It is in a task of its own, with the
    /// caller's priority, values and preference of an executor. Cancelling the caller's task cancels it. Any task. O(log timers) per mode.
    ///
    /// - Parameters:
    ///   - limit: at once if it is negative: then `body` is called and is cancelled already, or soon.
    ///   - mode: the mode in which the loop has to run, or all common ones.
    ///   - body: what is limited. Freed before this returns.
    /// - Returns: what `body` has returned within the limit.
    /// - Throws: what `body` has thrown within the limit; `timedOut` after it; `loopFinished` if the loop's thread has ended before `body` has.
    public func withTimeout<Value>(
        _ limit: Duration, inMode mode: Mode = .common, isolation actor: isolated (any Actor)? = #isolation,
        _ body: nonisolated(nonsending) @escaping () async throws -> Value
    ) async throws -> sending Value {
        let race = RaceWithLimit()
        let body = Carried(value: body)
        let task = Task(executorPreference: preferredExecutor()) {
            // So it is on the caller's actor.
            _ = actor
            let result: Result<Value, any Swift.Error>
            do { result = .success(try await body.value()) } catch { result = .failure(error) }
            return Carried(value: race.end().map(Result.failure) ?? result)
        }
        race.cancel(by: { task.cancel() })
        let timeout = begin(limit, mode, race)
        defer { timeout.cancel() }
        let result = await withTaskCancellationHandler(
            operation: { await task.value }, onCancel: { task.cancel() }, isolation: actor)
        // The task that had it has ended.
        nonisolated(unsafe) let value = result.value
        return unsafe try value.get()
    }

    /// The loop alone keeps the object that detects its end.
    private func begin(_ delay: Duration, _ mode: Mode, _ race: RaceWithLimit) -> Timeout {
        let limit = Limit(race)
        return Timeout(on: self, after: delay, inMode: mode) { limit.race.lose(.timedOut) }
    }

    /// That of the caller's task, which a task of its own would not have.
    private func preferredExecutor() -> (any _Concurrency.TaskExecutor)? {
        unsafe withUnsafeCurrentTask { unsafe $0?.unownedTaskExecutor?.asTaskExecutor() }
    }
}

/// What one task has while the other waits for it, so that it is never used by both at once.
private struct Carried<Value>: @unchecked Sendable {
    let value: Value
}

/// Retained by the closure of a timeout: freed when that was called, cancelled, or never will be.
private final class Limit: Sendable {
    let race: RaceWithLimit

    init(_ race: RaceWithLimit) {
        self.race = race
    }

    deinit {
        race.lose(.loopFinished)
    }
}

/// What comes first, the end of a task or its limit, decides.
private final class RaceWithLimit: Sendable {
    private enum State {
        case running(cancel: (@Sendable () -> Void)?)
        case lost(RunLoop.Error)
        case ended
    }

    private let state = Guarded(State.running(cancel: nil))

    /// What the limit does to the task, which may have ended by now. Before the limit begins.
    func cancel(by cancel: @escaping @Sendable () -> Void) {
        state.withLock { state in
            if case .running = state { state = .running(cancel: cancel) }
        }
    }

    /// The limit has passed, or will never.
    func lose(_ error: RunLoop.Error) {
        let cancel: (@Sendable () -> Void)? = state.withLock { state in
            guard case .running(let cancel) = state else { return nil }
            state = .lost(error)
            return cancel
        }
        cancel?()
    }

    /// The task has ended. What it comes to instead, if it was too late.
    func end() -> RunLoop.Error? {
        state.withLock { state in
            if case .lost(let error) = state { return error }
            state = .ended
            return nil
        }
    }
}
#endif
