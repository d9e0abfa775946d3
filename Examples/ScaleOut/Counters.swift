import Synchronization

/// What a loop has done so far. Its own thread counts, and any thread reads, so these are the only words that loops share; each object
/// is an allocation of its own. An exception is `open`, by which a loop that hands a connection over makes a reservation.
final class Counters: Sendable {
    /// By its own listener.
    let accepted = Atomic(0)
    /// Of those: given to another loop.
    let handedOver = Atomic(0)
    /// From other loops.
    let taken = Atomic(0)
    /// Connections that it has, or is about to take.
    let open = Atomic(0)
    /// Of these: a request has begun, and is not answered.
    let busy = Atomic(0)
    let requests = Atomic(0)

    var summary: String {
        "accepted \(accepted.now), handed over \(handedOver.now), taken \(taken.now), open \(open.now), busy \(busy.now), requests \(requests.now)"
    }
}

/// A connection's place among those of a loop, from when it is given to that loop to its end, also if it never gets there.
final class Place: Sendable {
    private let counters: Counters

    init(among counters: Counters) {
        self.counters = counters
        counters.open.count()
    }

    deinit { counters.open.count(-1) }
}

extension Atomic<Int> {
    var now: Int { load(ordering: .relaxed) }
    borrowing func count(_ difference: Int = 1) { add(difference, ordering: .relaxed) }
}
