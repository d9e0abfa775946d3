import RunLoopKitSimulation
import Synchronization
import Testing

/// Keeps a value until it is taken.
final class Slot: Sendable {
    private let value = Mutex<Int?>(nil)

    func put(_ new: Int) { value.withLock { $0 = new } }

    func take() -> Int {
        value.withLock { value in
            guard let taken = value else {
                preconditionFailure("nothing was put in")
            }
            value = nil
            return taken
        }
    }
}

@Test(.fails) func valuesArePutBeforeTheyAreTaken() async throws {
    try await simulate(seeds: 1_000) { _ in
        let slot = Slot()
        async let taken = slot.take()
        slot.put(42)
        _ = await taken
    }
}
