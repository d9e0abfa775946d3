#if os(Linux)
internal import CRunLoopSimulation

/// Who takes turns in a simulation: a loop on its thread, or a processor, which runs the jobs of tasks.
struct Member {
    enum Status {
        /// In the middle of something.
        case ready
        /// A loop has nothing to do before this instant.
        case waiting(until: Int64)
        /// It wants a lock that another one has, which `isOurs`, or may be: then nobody has gone on since but those who want locks, too.
        case contending(since: Int, isOurs: Bool)
        /// A processor without a job.
        case idle
        case gone
    }

    let name: String
    /// Readable if anything has come for the loop; -1 for a processor.
    let descriptor: Int32
    let turn = Turn()
    var status: Status
    /// A processor runs it.
    var job: SimulatedTasks.Job?
    /// It has no thread yet.
    var isNew = false

    init(name: String, descriptor: Int32) {
        (self.name, self.descriptor, status) = ("loop \(name)", descriptor, .ready)
    }

    init(processor number: Int) {
        (name, descriptor, status, isNew) = ("processor \(number)", -1, .idle, true)
    }

    var isProcessor: Bool { descriptor < 0 }
    var isGone: Bool { if case .gone = status { true } else { false } }
    var isIdle: Bool { if case .idle = status { true } else { false } }
    var isContending: Bool { if case .contending = status { true } else { false } }
    /// After the end of the simulation, it has yet to come to its own.
    var isUnderWay: Bool { isProcessor ? job != nil : !isGone }
    /// When a loop goes on at the latest.
    var end: Int64 { if case .waiting(let end) = status { end } else { .max } }
}

/// Who may go on next.
struct Candidate {
    let member: Int
    /// The place of the job that a processor would begin.
    var job: Int? = nil
    /// The same for the same loop or task.
    var id = 0
}

/// What a thread waits for. Given once, it is taken once, also if it was given before. Safe for whoever frees it last.
@safe struct Turn: @unchecked Sendable {
    @safe private let word = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)

    init() { unsafe word.initialize(to: 0) }

    /// For C.
    var address: UnsafeMutablePointer<UInt32> { word }

    func free() { unsafe word.deallocate() }
    func wait() { unsafe runloop_simulation_await_turn(word) }
    func give() { unsafe runloop_simulation_give_turn(word) }
}
#endif
