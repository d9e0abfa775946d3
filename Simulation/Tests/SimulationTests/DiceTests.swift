import Glibc
import RunLoopKit
import RunLoopKitSimulation
import Testing

import struct Foundation.UUID

@Suite struct DiceTests {
    /// What three calls return under a seed.
    private func texts(_ seed: UInt64, _ text: @escaping @Sendable () -> String) async throws -> [String] {
        let texts = Guarded<[String]>([])
        try await simulate(seeds: 1, from: seed) { _ in
            let made = [text(), text(), text()]
            texts.withLock { $0 = made }
        }
        return texts.withLock { $0 }
    }

    @Test("An identifier of Foundation's is the seed's: the same each time, another one under another seed")
    func identifiers() async throws {
        let first = try await texts(1) { UUID().uuidString }
        #expect(try await texts(1) { UUID().uuidString } == first)
        #expect(try await texts(2) { UUID().uuidString } != first)
        #expect(Set(first).count == 3 && UUID() != UUID())
    }

    @Test("A failure that has an identifier in it is repeatable")
    func failures() async {
        let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await simulate(seeds: 1) { simulation in
                simulation.note("\(UUID()) \(Int.random(in: 0..<1_000_000))")
                try simulation.require(Task.isCancelled, "never")
            }
        }
        #expect(failure?.isRepeatable == true && failure?.story.isEmpty == false, "\(String(describing: failure))")
    }

    @Test("What a descriptor reads that the process had before a run is the seed's as well")
    func device() async throws {
        let descriptor = unsafe open("/dev/urandom", O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        @Sendable func number() -> String {
            var number: UInt64 = 0
            let size = MemoryLayout<UInt64>.size
            return unsafe read(descriptor, &number, size) == size ? "\(number)" : "an error"
        }
        let first = try await texts(1, number)
        #expect(try await texts(1, number) == first)
        #expect(try await texts(2, number) != first)
        #expect(Set(first).count == 3 && number() != number())
    }
}
