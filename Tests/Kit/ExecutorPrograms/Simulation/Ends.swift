import Glibc
import RunLoopKit
import RunLoopKitSimulation

/// A heap that is not in order, which libc notices: the process ends, and says under which seed.
func breakHeap() async throws {
    try await simulate(seeds: 10) { simulation in
        simulation.note("the heap is whole")
        try await Task.sleep(for: .seconds(1))
        if simulation.choose(8) != 1 { return }
        let memory = unsafe malloc(100)
        unsafe free(memory)
        unsafe free(memory)
    }
}
