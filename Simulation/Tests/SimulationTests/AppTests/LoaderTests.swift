import RunLoopKitSimulation
import Testing

/// Loads a value, once at a time.
actor Loader {
    private(set) var value: Int?
    private var isLoading = false

    func load(by fetch: @Sendable () async throws -> Int) async throws {
        if isLoading { return }
        isLoading = true
        // If this throws, it is loading for ever.
        value = try await fetch()
        isLoading = false
    }
}

@Test(.fails) func theValueIsLoadedAtLast() async throws {
    struct Unreachable: Error {}
    try await simulate(seeds: 1_000) { simulation in
        simulation.mostSteps = 10_000
        let loader = Loader()
        while await loader.value == nil {
            try? await loader.load {
                if simulation.choose(10) == 1 { throw Unreachable() }
                return 42
            }
            try await Task.sleep(for: .seconds(1))
        }
    }
}
