#if os(Linux)
internal import RunLoopKit

// Which of several goes on, and that none of them waits for ever.
extension Schedule {
    func choose(_ candidates: [Candidate], _ kind: Choices.Kind) -> Candidate {
        var candidates = candidates
        let isDue = candidates.count > 1 && putNeglectedFirst(&candidates)
        let isTired = !isDue && run.count >= Self.mostInARow && candidates.contains { $0.id == run.id }
        if isTired && candidates[0].id == run.id { candidates.append(candidates.removeFirst()) }
        if choices.followed != nil { offered = candidates }
        let way = choices.chooseNext(
            candidates.map(\.id), isDue || isTired ? .turn : kind, isFirstDue: isDue, tired: isTired ? run.id : nil)
        let chosen = candidates[way]
        if candidates.count > 1 { run = (chosen.id, chosen.id == run.id ? run.count + 1 : 0) }
        return chosen
    }

    /// Several that go round, each with the help of the next, may be waiting for one that never has its turn: now and then it has, a job and a
    /// thread alternately. It is the first way then, which a seed takes, and a search as one among all.
    private func putNeglectedFirst(_ candidates: inout [Candidate]) -> Bool {
        guard let index = neglected(candidates) else { return false }
        candidates.insert(candidates.remove(at: index), at: 0)
        return true
    }

    private func neglected(_ candidates: [Candidate]) -> Int? {
        chances += 1
        if chances % Self.mostPassedOver != 0 { return nil }
        let jobs = candidates.indices.filter { candidates[$0].job != nil }
        let threads = candidates.indices.filter { candidates[$0].job == nil }
        let isJob = threads.isEmpty || !jobs.isEmpty && chances / Self.mostPassedOver % 2 == 0
        return isJob
            ? jobs.min { (candidates[$0].job ?? 0) < (candidates[$1].job ?? 0) }
            : threads.min { members[candidates[$0].member].lastChance < members[candidates[$1].member].lastChance }
    }

    private static let mostPassedOver = 256

    /// One that goes on so often though others could may be waiting for them.
    private static let mostInARow = 64
}
#endif
