import RunLoopKitSimulation
import Testing

/// Lets one task through at a time.
actor Gate {
    private var isTaken = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        while isTaken {
            await withCheckedContinuation { waiters.append($0) }
        }
        isTaken = true
    }

    func leave() {
        isTaken = false
        if !waiters.isEmpty { waiters.removeFirst().resume() }
    }
}

func work(behind gate: Gate) async throws {
    await gate.enter()
    // If this throws, the gate stays closed.
    try await Task.sleep(for: .seconds(1))
    await gate.leave()
}

@Test(.fails) func bothGetThrough() async throws {
    try await simulate(seeds: 1_000) { _ in
        let gate = Gate()
        let first = Task { try await work(behind: gate) }
        let second = Task { try await work(behind: gate) }
        try await Task.sleep(for: .milliseconds(500))
        first.cancel()
        try await second.value
    }
}
