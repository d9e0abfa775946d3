#if os(Linux)
internal import CRunLoopSimulation
internal import RunLoopKitTasks

/// One that takes turns in a simulation: a loop on its thread, or a processor, which runs the jobs of tasks.
struct Member {
    enum Status {
        /// In the middle of something.
        case ready
        /// A loop has nothing to do before this instant.
        case waiting(until: Int64)
        /// In the middle of something, for which it waits.
        case blocked(Wait)
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
    /// Of that, if it is no task's and somebody wants to know.
    var jobName: String?
    /// When it had its turn last, in chances.
    var lastChance = 0
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
    /// What it waits for in the middle of something.
    var wait: Wait? { if case .blocked(let wait) = status { wait } else { nil } }
    /// After the end of the simulation, it has yet to come to its own.
    var isUnderWay: Bool { isProcessor ? job != nil : !isGone }
    /// When it goes on at the latest.
    var end: Int64 {
        switch status {
        case .waiting(let end): end
        case .blocked(let wait): wait.end
        default: .max
        }
    }
}

/// What a thread waits for in the middle of something. What that is there as long.
@safe struct Wait: CustomStringConvertible {
    @safe private let wait: runloop_simulated_wait
    private let calls = Calls()
    let since: Int64

    init(_ wait: runloop_simulated_wait, since: Int64) {
        (self.wait, self.since) = unsafe (wait, since)
    }

    /// Can it go on, whatever the time is?
    var isReady: Bool { unsafe wait.is_ready?(wait.object) == true }
    var end: Int64 { wait.until_ns }
    var hasLimit: Bool { end != .max }
    /// May another process end it?
    var isOfKernel: Bool { wait.is_of_kernel }
    /// The innermost call that led here and is not this library's.
    var place: CodePlace? { calls.place }
    /// In words, and where: with those that called, since the innermost are often the functions of some lock.
    var description: String {
        let places = calls.placesAroundLock.map(\.full)
        return
            unsafe "\(String(cString: wait.what))\(places.isEmpty ? "" : " in \(places.joined(separator: ", called by "))")"
    }
}

/// One that may go on next.
struct Candidate {
    let member: Int
    /// The place of the job that a processor would begin.
    var job: Int? = nil
    /// The same for the same loop or task.
    var id = 0
}

/// What a thread waits for. Given once, it is taken once, also if it was given before. Freed last by any thread.
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
