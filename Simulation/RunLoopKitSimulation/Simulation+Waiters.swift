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
    ///
    /// A program in which something goes on for ever, a ticker for instance, never stands still, and nobody can know whether the ticker will
    /// end a wait one day. With a limit, the test says what must have come by then, in virtual time; if it has not, this is a ``Standstill``,
    /// with the tasks that neither sleep nor are ready. Virtual time passes only when nothing else can happen, so a busy machine is no
    /// reason for a longer limit.
    ///
    ///     try await simulate { simulation in
    ///         let ticker = Task {
    ///             while !Task.isCancelled {
    ///                 try? await Task.sleep(for: .seconds(1))
    ///             }
    ///         }
    ///         let child = Task { "an answer" }
    ///         print(
    ///             await simulation.awaiting("an answer", atMost: .seconds(60)) {
    ///                 await child.value
    ///             })
    ///         ticker.cancel()
    ///     }
    ///
    /// - Parameters:
    ///   - what: what is awaited, in words.
    ///   - limit: how long, from now on; `nil`: for ever.
    ///   - actor: the caller's.
    ///   - body: it awaits.
    public func awaiting<Value, Failure: Error>(
        _ what: String, atMost limit: Duration? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        isolation actor: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> sending Value
    ) async throws(Failure) -> sending Value {
        let number = beginWait(for: what, "\(fileID)", line)
        if let limit { schedule.limit(number, "\(what): \(fileID):\(line)", to: limit) }
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

    private func endWait(_ number: UInt) {
        _ = waits.withLock { $0.remove(number) }
        if !schedule.limitedWaits.isEmpty { schedule.limitedWaits[number] = nil }
    }
}
#endif
