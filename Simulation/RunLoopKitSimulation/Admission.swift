#if os(Linux)
internal import RunLoopKit
internal import RunLoopKitCLibrary

/// Lets so many calls run simulations at a time, and the others wait in order. Swift Testing starts all tests of a process at once, and each
/// simulation has threads and descriptors of its own, so that hundreds of them would find none left.
final class Admission: Sendable {
    static let shared = Admission(of: mostAtATime)

    private struct State {
        /// All that have come and have not left.
        var calls = 0
        var waiting = Queue<CheckedContinuation<Void, Never>>()
    }

    let most: Int
    private let state = Guarded(State())

    init(of most: Int) {
        self.most = most
    }

    /// A call in a simulation is part of a run that has its place, and goes on at once.
    func admit<Value, Failure>(_ body: () async throws(Failure) -> Value) async throws(Failure) -> Value {
        if RunLoop.Simulation.current != nil { return try await body() }
        await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let mayEnter = state.withLock { state in
                state.calls += 1
                if state.calls > most { state.waiting.append(continuation) }
                return state.calls <= most
            }
            if mayEnter { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state in
            state.calls -= 1
            return state.waiting.removeFirst()
        }
        next?.resume()
    }

    /// Those that wait among them.
    var calls: Int { state.withLock { $0.calls } }

    /// Twice the processors, so that none is idle while a run waits for a thread outside, and no more than have 32 descriptors each.
    private static var mostAtATime: Int {
        max(2, min(2 * sysconf(CInt(_SC_NPROCESSORS_ONLN)), mostDescriptors / 32))
    }
}

/// Are half of the descriptors in use that the process may have? The next one has the smallest number that is free.
var areDescriptorsScarce: Bool {
    let next = unsafe open("/", O_RDONLY | O_CLOEXEC)
    if next >= 0 { close(next) }
    return next >= 0 ? next > mostDescriptors / 2 : errno == EMFILE
}

private var mostDescriptors: Int {
    var limit = rlimit()
    let isKnown = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    return isKnown ? Int(clamping: limit.rlim_cur) : 0
}
#endif
