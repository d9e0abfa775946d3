public import RunLoopKit

extension RunLoop.Simulation {
    /// Does what `body` does, and has a standstill meanwhile name this wait: for something that the simulation can't see, an answer or a turn.
    ///
    ///     try await simulate { simulation in
    ///         let child = Task(executorPreference: simulation.executor) { "an answer" }
    ///         print(await simulation.awaiting("the child's answer") { await child.value })
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
    var waiters: [String] { waits.withLock { $0.waiting.sorted { $0.key < $1.key }.map(\.value) } }

    func beginWait(for what: String, _ file: String, _ line: UInt) -> Int {
        waits.withLock { waits in
            waits.lastNumber += 1
            waits.waiting[waits.lastNumber] = "\(what): \(file):\(line)"
            return waits.lastNumber
        }
    }

    private func endWait(_ number: Int) { waits.withLock { _ = $0.waiting.removeValue(forKey: number) } }
}

/// By number.
struct Waits {
    var waiting: [Int: String] = [:]
    var lastNumber = 0
}
