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
    /// Tasks of runs that ended before them, and had something which was lent for that time: they must never go on.
    private let ended = Guarded<Set<UInt32>>([])
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

    func keepFromGoingOn(_ tasks: Set<UInt32>) {
        let added = ended.withLock { ended in
            let before = ended.count
            ended.formUnion(tasks)
            return ended.count - before
        }
        count.add(added, ordering: .relaxed)
    }

    func mayGoOn(_ task: UInt32) -> Bool { isEmpty || !ended.withLock { $0.contains(task) } }

    func owner(of task: UInt32) -> RunLoop.Simulation? { simulations.withLock { $0[task] } }
}

let owners = Owners()
#endif
