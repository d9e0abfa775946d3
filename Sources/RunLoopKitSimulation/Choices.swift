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

    /// One of `count` ways. A single way is no choice, and not in the journal.
    func choose(_ count: Int) -> Int {
        if count <= 1 { return 0 }
        let choice: Int
        if let replayed {
            let next = journal.count
            choice = next < replayed.count ? min(replayed[next], count - 1) : 0
        } else {
            choice = Int(random() % UInt64(count))
        }
        journal.append(choice)
        return choice
    }

    /// SplitMix64: any seed is as good as any other.
    private func random() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
