public import RunLoopKit

extension RunLoop.Simulation {
    /// Somebody who waits for something that the simulation can't see, an answer or a turn: a standstill names all that there are.
    public struct Waiter: Hashable, Sendable, CustomStringConvertible {
        /// What is waited for, in words.
        public let what: String
        /// The file in which that is said, `Module/File.swift`.
        public let file: String
        /// The line in that file.
        public let line: UInt

        /// All of that, in a line.
        public var description: String { "\(what): \(file):\(line)" }
    }

    /// Does what `body` does, and has a standstill meanwhile name this wait.
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
        let number = beginWait(Waiter(what: what, file: "\(fileID)", line: line))
        defer { endWait(number) }
        return try await body()
    }

    /// Who waits now, in the order in which they began.
    public var waiters: [Waiter] { waits.withLock { $0.waiting.sorted { $0.key < $1.key }.map(\.value) } }

    func beginWait(_ waiter: Waiter) -> Int {
        waits.withLock { waits in
            waits.lastNumber += 1
            waits.waiting[waits.lastNumber] = waiter
            return waits.lastNumber
        }
    }

    private func endWait(_ number: Int) { waits.withLock { _ = $0.waiting.removeValue(forKey: number) } }
}

/// By number.
struct Waits {
    var waiting: [Int: RunLoop.Simulation.Waiter] = [:]
    var lastNumber = 0
}
