#if os(Linux)
internal import CRunLoopSimulation

/// Where a simulation may go one way or another: a seed decides, the journal of an earlier run, or a search through all ways. Used by one
/// thread at a time.
///
/// The first way is always the one in which nothing special happens: the one that has the turn goes on, nothing is late, nothing fails.
final class Choices {
    enum Kind {
        /// Which one goes on; the one that has the turn could.
        case preemption
        /// Which one goes on, when the one before has nothing left to do.
        case turn
        /// At which of the next places, where a lock is taken for instance, somebody else goes on.
        case place
        /// The first state of the program's own random numbers: too many to try them all.
        case dice
        case other
    }

    /// A choice that was made.
    struct Made: Sendable {
        let way: Int
        /// Those that a search tries.
        let ways: Int
        let chosenFrom: Int
        let isPreemption: Bool
        /// Of a choice among places: those at which somebody else could go on, a bit for each. `nil` for all others.
        var places: UInt64? = nil

        /// The next one, in a search through all ways, which knows the places only up to the one that was chosen. So the last comes first.
        var nextWay: Int? {
            guard let places else { return way + 1 < ways ? way + 1 : nil }
            let left = way == 0 ? places : places & ((1 << UInt64(way)) - 1)
            return left == 0 ? nil : left.bitWidth - 1 - left.leadingZeroBitCount
        }
    }

    private(set) var made: [Made] = []
    /// Another run, with which this one is compared.
    var followed: Followed?
    private let decisions: Decisions
    private var state: UInt64
    private var strategy: Strategy
    private var places: PlaceStrategy

    init(_ decisions: Decisions) {
        self.decisions = decisions
        state = if case .seed(let seed) = decisions { seed } else { 0 }
        strategy = .uniform
        places = PlaceStrategy(state)
        if case .seed(let seed) = decisions { strategy = Strategy(seed) }
    }

    /// What was chosen so far.
    var journal: [Int] { made.map(\.way) }

    func chooseDice() -> UInt64 { UInt64(choose(1 << 16, .dice)) }

    /// One of `count` ways. A single way is no choice, and not in the journal.
    func choose(_ count: Int, _ kind: Kind = .other) -> Int {
        decide(count, kind) { Int(next() % UInt64(count)) }
    }

    /// Does something happen that does so in so many of a hundred cases?
    func happens(percentage: Int) -> Bool {
        if percentage <= 0 { return false }
        return decide(2, .other) { next() % 100 < UInt64(percentage) ? 1 : 0 } == 1
    }

    /// One of several that may go on, whose numbers these are. If it is a preemption, the first has the turn. If it is due, a seed takes it.
    /// `tired`, if it is one of them, has gone on for long.
    func chooseNext(_ candidates: [Int], _ kind: Kind, isFirstDue: Bool, tired: Int?) -> Int {
        decide(candidates.count, kind) {
            if isFirstDue { return 0 }
            let random = next()
            return strategy.choose(candidates, mayStay: kind == .preemption, tired: tired, random)
        }
    }

    /// At which of so many places that follow somebody else goes on; 0: at none.
    static let placesAtATime = 63

    func choosePlace() -> Int { decide(Self.placesAtATime + 1, .place) { places.choose() } }

    /// Are all ways tried? Then it is of interest which places could be chosen.
    var isSearch: Bool { if case .search = decisions { true } else { false } }

    /// Somebody else could go on at that one of the places that were chosen among last.
    func notePlace(_ number: Int) {
        guard let last = made.lastIndex(where: { $0.places != nil }) else { return }
        made[last].places? |= 1 << UInt64(number)
    }

    private func decide(_ count: Int, _ kind: Kind, _ random: () -> Int) -> Int {
        if count <= 1 { return 0 }
        let way =
            switch decisions {
            case .seed: random()
            case .journal(let journal), .search(let journal):
                made.count < journal.count ? min(journal[made.count], count - 1) : 0
            }
        followed?.compare(made.count, way: way, ways: count, kind)
        made.append(
            Made(
                way: way, ways: kind == .dice ? 1 : count, chosenFrom: count,
                isPreemption: kind == .preemption || kind == .place,
                places: kind == .place ? 0 : nil))
        return way
    }

    /// The journal of the next run in a search through all ways: the last choice that has another way takes it. `nil`: there is none.
    static func next(after made: [Made], preemptions: Int?) -> [Int]? {
        var used = made.count { $0.isPreemption && $0.way > 0 }
        for (index, choice) in made.enumerated().reversed() {
            if choice.isPreemption && choice.way > 0 { used -= 1 }
            guard let next = choice.nextWay else { continue }
            if choice.isPreemption, let preemptions, used >= preemptions { continue }
            return made[..<index].map(\.way) + [next]
        }
        return nil
    }

    private func next() -> UInt64 { unsafe runloop_simulation_next_random(&state) }
}

/// What decides in a run.
enum Decisions: Sendable {
    case seed(UInt64)
    /// After its end, the first way is taken each time.
    case journal([Int])
    /// The same, by a search through all ways.
    case search([Int])
}

/// How a seed chooses which one goes on. Each finds other mistakes soon, so the seeds take turns.
private enum Strategy {
    /// Each is as likely as any other.
    case uniform
    /// The one that has the turn mostly keeps it.
    case constant
    /// Each has a priority of its own, the highest goes on; at a few steps the one that has the turn gets the lowest. A mistake that
    /// needs so many changes at certain places is found with a probability that is known (PCT, Burckhardt and others, 2010).
    case priorities(Priorities)

    init(_ seed: UInt64) {
        switch seed % 3 {
        case 0: self = .uniform
        case 1: self = .priorities(Priorities(seed))
        default: self = .constant
        }
    }

    func choose(_ candidates: [Int], mayStay: Bool, tired: Int?, _ random: UInt64) -> Int {
        switch self {
        case .uniform: return Int(random % UInt64(candidates.count))
        case .constant:
            if mayStay && random % 8 != 0 { return 0 }
            return Int(random / 8 % UInt64(candidates.count))
        case .priorities(let priorities): return priorities.choose(candidates, mayStay: mayStay, tired: tired)
        }
    }
}

/// How a seed chooses places. One of four seeds chooses none, since each costs two changes of threads. The others take near ones more often, for short
/// programs have no others, and fewer after some time. The numbers are their own, so that they change nothing of a seed's other choices.
private struct PlaceStrategy {
    private var state: UInt64
    private let isActive: Bool
    private var count = 0

    init(_ seed: UInt64) {
        isActive = seed / 3 % 4 != 0
        state = ~seed
    }

    mutating func choose() -> Int {
        if !isActive { return 0 }
        let random = unsafe runloop_simulation_next_random(&state)
        if random % (count < Self.many ? 2 : 16) != 0 { return 0 }
        count += 1
        let size = random >> 8 % 6
        return Int(1 << size + (random >> 16) % (1 << size))
    }

    private static let many = 8
}

private final class Priorities {
    private var state: UInt64
    private var priorities: [Int: Int] = [:]
    private var changes: Set<Int> = []
    private var steps = 0
    /// Below all others.
    private var lowest = -1

    init(_ seed: UInt64) {
        state = seed &+ 1
        let span = unsafe 8 << (runloop_simulation_next_random(&state) % 6)
        for _ in 0..<3 { unsafe changes.insert(Int(runloop_simulation_next_random(&state) % UInt64(span))) }
    }

    func choose(_ candidates: [Int], mayStay: Bool, tired: Int?) -> Int {
        for candidate in candidates where priorities[candidate] == nil {
            priorities[candidate] = unsafe Int(runloop_simulation_next_random(&state) >> 1)
        }
        steps += 1
        if mayStay && changes.contains(steps) { demote(candidates[0]) }
        // One that waits for others by going round must not keep them from going on.
        if let tired { demote(tired) }
        return candidates.indices.max { rank(candidates[$0]) < rank(candidates[$1]) } ?? 0
    }

    private func demote(_ candidate: Int) {
        priorities[candidate] = lowest
        lowest -= 1
    }

    private func rank(_ candidate: Int) -> Int { priorities[candidate] ?? 0 }
}
#endif
