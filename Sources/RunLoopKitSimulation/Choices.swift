internal import CRunLoopSimulation

/// Where a simulation may go one way or another: a seed decides, or the journal of an earlier run. Used by one thread at a time.
final class Choices {
    /// What was chosen so far.
    private(set) var journal: [Int] = []
    private let replayed: [Int]?
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
        replayed = nil
    }

    /// After the journal's end, the first way is taken each time.
    init(journal: [Int]) {
        state = 0
        replayed = journal
    }

    /// The first state of the program's own random numbers.
    func chooseDice() -> UInt64 { UInt64(choose(1 << 16)) }

    /// One of `count` ways. A single way is no choice, and not in the journal.
    func choose(_ count: Int) -> Int {
        if count <= 1 { return 0 }
        let choice: Int
        if let replayed {
            let next = journal.count
            choice = next < replayed.count ? min(replayed[next], count - 1) : 0
        } else {
            choice = Int(runloop_simulation_next_random(&state) % UInt64(count))
        }
        journal.append(choice)
        return choice
    }
}
