import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitSimulation

/// A client of a simulated server: its text goes out in pieces, with pauses between them, and it notes each line that it receives.
final class SimulatedPeer: Sendable {
    private let simulation: RunLoop.Simulation
    private let name: String
    private let connection: RunLoop.Connection
    private let heardLines = Guarded<[String]>([])
    private let end = Guarded<ContinuousClock.Instant?>(nil)
    private let hearing = Guarded<Task<Void, Never>?>(nil)

    /// `name` is for the story.
    init(_ simulation: RunLoop.Simulation, _ name: String, at address: RunLoop.Listener.Address) async throws {
        (self.simulation, self.name) = (simulation, name)
        connection = try await RunLoop.Connection.connect(to: address, on: simulation.loop)
    }

    /// What it has received so far.
    var heard: [String] { heardLines.withLock { $0 } }

    /// When the other side ended, as far as this one has noticed.
    var ended: ContinuousClock.Instant? { end.withLock { $0 } }

    /// Notes each line from now on, until the other side ends.
    func hear() {
        let task = Task { [connection, heardLines, end, simulation, name] in
            let reader = connection.makeReader()
            while let line = try? await reader.line() {
                simulation.note("\(name) hears \"\(line)\"")
                heardLines.withLock { $0.append(line) }
            }
            simulation.note("\(name) hears the end")
            end.withLock { $0 = .now }
        }
        hearing.withLock { $0 = task }
    }

    func write(_ text: String) async throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let isWhole = simulation.choose(2) == 0
            let piece = rest.prefix(isWhole ? rest.count : 1 + simulation.choose(rest.count))
            rest = rest.dropFirst(piece.count)
            simulation.note("\(name) writes \(String(decoding: piece, as: UTF8.self).debugDescription)")
            try await connection.writer.write(piece)
            if !rest.isEmpty { try await Task.sleep(for: .milliseconds(simulation.choose(20))) }
        }
    }

    /// Says that nothing more comes, and goes on hearing.
    func finish() async { _ = try? await connection.writer.finish() }

    /// Waits until the other side has ended.
    func waitForEnd() async {
        await hearing.withLock { $0 }?.value
        connection.abort()
    }

    func abort() { connection.abort() }
}

extension RunLoop.Listener.Address {
    /// One that nobody has. What is sent there arrives at once, what TCP sends perhaps later on a busy machine.
    static func unused() -> RunLoop.Listener.Address {
        let number = addresses.withLock { number in
            number += 1
            return number
        }
        return .abstract("simulated server \(number) of \(getpid())")
    }
}

private let addresses = Guarded(0)
