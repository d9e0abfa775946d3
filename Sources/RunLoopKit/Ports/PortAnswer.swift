#if os(Linux)
package typealias PortAnswer<Value> = Answer<Value, RunLoop.PortError>

extension Answer where Failure == RunLoop.PortError {
    /// The one task that waits. If it wants to give up, `withdraw` is called, which says whether it may: `false` if somebody is about to settle
    /// this.
    package func wait(
        timeout: Duration?, clock: some Clock<Duration>, isolation actor: isolated (any Actor)?,
        withdraw: @escaping @Sendable () -> Bool
    ) async throws(RunLoop.PortError) -> sending Value {
        let alarm = timeout.map { timeout in
            Task {
                // The sender must not wait for ever because the clock fails.
                try? await clock.sleep(for: timeout)
                if !Task.isCancelled { giveUp(.timedOut, withdraw) }
            }
        }
        defer { alarm?.cancel() }
        return try await wait(isolation: actor) { giveUp(.cancelled, withdraw) }
    }

    private func giveUp(_ error: RunLoop.PortError, _ withdraw: () -> Bool) {
        if isOpen && withdraw() { settle(.failure(error)) }
    }
}
#endif
