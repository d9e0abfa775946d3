#if os(Linux)
internal import RunLoopKit
internal import Synchronization

/// The tasks of a simulation, by their numbers.
struct OwnedTasks {
    /// The body's. Those of older tasks are smaller. 0 belongs to none.
    var first: UInt32 = 0
    var tasks: Set<UInt32> = []
    /// Where tasks went on that a thread outside has resumed.
    var outsiders: [String] = []
}

/// Whose task it is, for all simulations of the process.
final class Owners: Sendable {
    private let simulations = Guarded<[UInt32: RunLoop.Simulation]>([:])
    private let count = Atomic(0)

    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    func add(_ task: UInt32, _ simulation: RunLoop.Simulation) {
        simulations.withLock { $0[task] = simulation }
        count.add(1, ordering: .relaxed)
    }

    func remove(_ tasks: Set<UInt32>) {
        simulations.withLock { simulations in
            for task in tasks { simulations[task] = nil }
        }
        count.subtract(tasks.count, ordering: .relaxed)
    }

    func owner(of task: UInt32) -> RunLoop.Simulation? { simulations.withLock { $0[task] } }
}

let owners = Owners()
#endif
