internal import CRunLoopSimulation
internal import RunLoopKit

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// Whose turn it is. Each loop of a simulation has a thread, but only the one whose turn it is runs: it hands over when it begins an iteration
/// and when it has nothing to do, to a loop that the choices name. So what one thread does, the others do not see halfway, and the same choices
/// give the same run.
///
/// Time stands still while any loop has something to do. The lock orders the threads; all that is simulated is used by the thread whose
/// turn it is.
final class Schedule: @unchecked Sendable {
    struct Member {
        let name: String
        /// Readable if anything has come for the loop.
        let descriptor: Int32
        /// It has nothing to do before this instant. `nil`: it has.
        var waitsUntil: Int64?
        var hasLeft = false
    }

    let choices: Choices
    /// Its time, and the dice of the program's own random numbers.
    let world: UnsafeMutablePointer<runloop_simulated_world>
    private(set) var members: [Member] = []
    /// Every loop waits for something that never comes.
    private(set) var standsStill = false
    /// So many steps, of tasks and of time, are a program that goes round.
    var mostSteps = 1_000_000
    private(set) var steps = 0
    /// How long real threads are given to resume a task, when nothing can happen otherwise, in milliseconds.
    var patience: Int32 = 0
    /// How much later than asked a sleep may end.
    var greatestDelay: Int64 = 0
    var wakesSpuriously = false

    private var turn = 0
    /// Notified when the turn is handed over.
    private let monitor = Monitor()

    init(_ choices: Choices, startingAt now: Int64) {
        self.choices = choices
        world = .allocate(capacity: 1)
        // The dice are a choice like the others, so that a journal has them, too.
        world.initialize(
            to: runloop_simulated_world(now_ns: now, random: 0, has_dice: false) {
                RunLoop.Simulation.at($0)?.schedule.choices.chooseDice() ?? 0
            })
    }

    deinit {
        world.deallocate()
    }

    private(set) var now: Int64 {
        get { world.pointee.now_ns }
        set { world.pointee.now_ns = newValue }
    }

    /// On the thread whose turn it is: one more step. False if there were too many.
    func countStep() -> Bool {
        steps += 1
        return steps <= mostSteps
    }

    var goesRound: Bool { steps > mostSteps }

    /// On the thread of a new loop. Whoever waits for that has the turn meanwhile. The first one to join has the first turn.
    func join(_ name: String, descriptor: Int32) -> Int {
        monitor.withLock {
            members.append(Member(name: name, descriptor: descriptor))
            return members.count - 1
        }
    }

    func awaitTurn(of member: Int) {
        monitor.withLock { waitForTurn(of: member) }
    }

    private func waitForTurn(of member: Int) {
        while turn != member { monitor.wait() }
    }

    /// Another loop may go on first.
    func yield(from member: Int) {
        monitor.withLock {
            handOver(to: runnable())
            waitForTurn(of: member)
        }
    }

    /// The loop has nothing to do for so long, by the simulation's clock. Returns when it may look again.
    func wait(_ member: Int, for duration: Int64) {
        monitor.withLock {
            let (end, overflow) = now.addingReportingOverflow(duration)
            members[member].waitsUntil = overflow || duration == .max ? .max : end
            var ready = runnable()
            while ready.isEmpty && countStep() && passTime() { ready = runnable() }
            if ready.isEmpty && !goesRound && awaitOutsiders() { ready = runnable() }
            if ready.isEmpty {
                standsStill = true
                ready = [0]
            }
            handOver(to: ready)
            waitForTurn(of: member)
            members[member].waitsUntil = nil
        }
    }

    /// Shall a loop that has nothing to do wake up all the same? On the thread of the loop whose turn it is, as is the next one.
    var wakesNow: Bool { wakesSpuriously && choices.choose(8) == 1 }

    func step(_ duration: Int64) {
        monitor.withLock { now = now.addingReportingOverflow(duration).overflow ? .max - 1 : now + duration }
    }

    /// The loop takes no more turns.
    func leave(_ member: Int) {
        monitor.withLock {
            members[member].hasLeft = true
            let left = members.indices.filter { !members[$0].hasLeft }
            handOver(to: left)
        }
    }

    private func handOver(to ready: [Int]) {
        if ready.isEmpty { return }
        turn = ready[choices.choose(ready.count)]
        monitor.notify()
    }

    /// The loops that have something to do, in the order in which they joined.
    private func runnable() -> [Int] {
        members.indices.filter { index in
            let member = members[index]
            if member.hasLeft { return false }
            guard let end = member.waitsUntil else { return true }
            return end <= now || isReadable(member.descriptor)
        }
    }

    /// Nothing can happen, unless a thread outside does something. Whether one has.
    private func awaitOutsiders() -> Bool {
        var waited = members.filter { !$0.hasLeft }.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        return patience > 0 && poll(&waited, nfds_t(waited.count), patience) > 0
    }

    /// Up to the first instant that a loop waits for, or somewhat later. False if there is none.
    private func passTime() -> Bool {
        let first = members.lazy.filter { !$0.hasLeft }.compactMap(\.waitsUntil).min()
        guard let first, first != .max else { return false }
        let steps = 4
        let delay = greatestDelay > 0 ? greatestDelay / Int64(steps) * Int64(choices.choose(steps + 1)) : 0
        now = max(now, first + delay)
        return true
    }
}

private func isReadable(_ descriptor: Int32) -> Bool {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waited, 1, 0) == 1
}
