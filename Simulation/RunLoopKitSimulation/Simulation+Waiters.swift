#if os(Linux)
public import RunLoopKit

extension RunLoop.Simulation {
    /// Does what `body` does, and has a standstill meanwhile name this wait: for something that the simulation can't see, an answer or a turn.
    ///
    ///     try await simulate { simulation in
    ///         let child = Task(executorPreference: simulation.executor) { "an answer" }
    ///         print(
    ///             await simulation.awaiting("the child's answer") { await child.value })
    ///     }
    ///
    /// Sleeps and links need no name, since the loops have them. From a task of the simulation.
    public func awaiting<Value, Failure: Error>(
        _ what: String, fileID: StaticString = #fileID, line: UInt = #line,
        isolation actor: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> sending Value
    ) async throws(Failure) -> sending Value {
        let number = beginWait(for: what, "\(fileID)", line)
        defer { endWait(number) }
        return try await body()
    }

    /// For what and where, in the order in which the waits began.
    var waiters: [String] {
        var line = waits.withLock { $0 }
        return line.removeAll()
    }

    func beginWait(for what: String, _ file: String, _ line: UInt) -> UInt {
        waits.withLock { $0.append("\(what): \(file):\(line)") }
    }

    private func endWait(_ number: UInt) { _ = waits.withLock { $0.remove(number) } }
}
#endif
