#if os(Linux)
internal import CRunLoopSimulation
internal import RunLoopKit
internal import RunLoopKitCLibrary
internal import RunLoopKitTasks

/// Whose turn it is. Each loop of a simulation has a thread, and so have the processors on which its tasks run, but only the one whose turn
/// it is runs. It hands over to one that the choices name when it has nothing to do, when it begins an iteration, and wherever it does
/// something of which others may learn: what it sends, posts, signals or resumes. So between two such places what a thread does is not seen
/// halfway, and the same choices give the same run.
///
/// Time stands still while any of them has something to do. All of this is used by the thread whose turn it is.
@safe final class Schedule: @unchecked Sendable {
    let choices: Choices
    /// Its time, the dice of the program's own random numbers, its threads. From `init` to `deinit`, and its threads keep the schedule.
    @safe let world: UnsafeMutablePointer<runloop_simulated_world>
    /// The tasks that are to go on.
    let jobs: SimulatedTasks
    private(set) var members: [Member] = []
    /// Nobody but the first loop has a turn any more.
    var isOver = false
    /// What would have ended the process.
    var trap: RunLoop.Simulation.Trap?
    var leak: RunLoop.Simulation.LeakedContinuation?
    /// Members whose threads stay where they are.
    private var parked: Set<Int> = []
    /// So many steps, of tasks and of time, are a program that goes round.
    var mostSteps = 1_000_000
    var steps = 0
    /// By the numbers of `awaiting`.
    var limitedWaits: [UInt: LimitedWait] = [:]
    /// One that took longer.
    var exceeded: LimitedWait?
    /// Where a thread looked at the clock again and again, until there were too many steps.
    var roundabout: CodePlace?
    /// How long real threads are given to resume a task, when nothing can happen otherwise, in milliseconds.
    var patience: Int32 = 0
    /// How long they were, in vain: this is not the program's time.
    var spentPatience: Int32 = 0
    /// How much later than asked a sleep may end.
    var greatestDelay: Int64 = 0
    var wakesSpuriously = false
    /// How many tasks may be under way at a time.
    var processors = 2
    /// What has happened, if somebody wants to know.
    var story: Story?
    /// What there was to choose from last, in a run that is compared with another one.
    var offered: [Candidate] = []
    /// Does anybody want to know which job is which?
    var namesJobs: Bool { story != nil || choices.followed != nil }
    private var taskNumbers: [UInt32: Int] = [:]
    var places = Places()
    /// The one that went on last.
    private var last = 0
    /// How often several could go on.
    var chances = 0
    /// The one that went on last, and how often in a row though others could.
    var run = (id: 0, count: 0)

    init(_ choices: Choices, startingAt now: Int64) {
        self.choices = choices
        jobs = SimulatedTasks()
        world = .allocate(capacity: 1)
        unsafe world.initialize(to: runloop_simulated_world())
        unsafe world.pointee.now_ns = now
        // The wall clock of each simulation begins on the same day, 2025-01-01T00:00:00Z, when the machine has been up for a while.
        unsafe world.pointee.wall_offset_ns = 1_735_689_600_000_000_000 - now
        // The dice are a choice like the others, so that a journal has them, too.
        unsafe world.pointee.first_random = { unsafe RunLoop.Simulation.at($0)?.schedule.choices.chooseDice() ?? 0 }
        unsafe world.pointee.choose = { unsafe RunLoop.Simulation.at($0)?.schedule.chooseFault(ways: $1) ?? 0 }
        unsafe world.pointee.wait = { unsafe RunLoop.Simulation.at($0)?.schedule.block($1) }
        unsafe world.pointee.sent = { simulation, what in
            unsafe RunLoop.Simulation.at(simulation)?.schedule.pause(what.map { unsafe .did(String(cString: $0)) })
        }
        followPlaces()
        jobs.schedule = self
    }

    deinit {
        unsafe runloop_simulation_free_timers(world)
        unsafe world.deallocate()
        for member in members { member.turn.free() }
    }

    private(set) var now: Int64 {
        get { unsafe world.pointee.now_ns }
        set { unsafe world.pointee.now_ns = newValue }
    }

    /// One more step. False if there were too many.
    func countStep() -> Bool {
        steps += 1
        return steps <= mostSteps
    }

    var goesRound: Bool { steps > mostSteps }

    func step(_ duration: Int64) {
        now = now.addingReportingOverflow(duration).overflow ? .max - 1 : now + duration
        unsafe runloop_simulation_fire_timers(world)
    }

    //===-- members --------------------------------------------------------------------------------------------------===//

    /// On the thread of a new loop. The thread that waits for that has the turn meanwhile. The first one to join has the first turn.
    func join(_ name: String, descriptor: Int32) -> (number: Int, turn: Turn) {
        let member = Member(name: name, descriptor: descriptor)
        members.append(member)
        return (members.count - 1, member.turn)
    }

    /// The loop, which is not the first, takes no more turns.
    func leave(_ member: Int) {
        _ = runloop_simulation_enter()
        members[member].status = .gone
        give(to: nextToGoOn(from: member))
        runloop_simulation_exit()
    }

    /// On a processor's thread: runs jobs until the simulation ends.
    func work(as member: Int, _ turn: Turn) {
        turn.wait()
        // Without a job, it has its turn when everything is over.
        while members[member].job != nil {
            runJob(of: member)
            members[member].status = .idle
            handOver(from: member, to: nextToGoOn(from: member))
        }
    }

    /// On the first loop's thread, which is the main actor's: one of its jobs.
    func runMainActor() {
        pause()
        guard runloop_simulation_enter() else { return }
        defer { runloop_simulation_exit() }
        if isOver { return }
        var ready: [Candidate] = []
        jobs.visit { index, job in
            if job.isMainActors { ready.append(Candidate(member: 0, job: index, id: job.id)) }
        }
        prepare(choose(ready, .turn))
        runJob(of: 0)
    }

    /// Which has the turn.
    private func runJob(of member: Int) {
        guard let job = members[member].job else { return }
        jobs.known.begin(job)
        runloop_simulation_exit()
        runloop_simulation_begin_step()
        job.run()
        if story != nil && runloop_simulation_enter() {
            noteChanges(by: name(of: members[member]))
            runloop_simulation_exit()
        }
        jobs.known.end(members[member].job ?? job, at: now, step: steps)
        _ = runloop_simulation_enter()
        members[member].job = nil
        if !countStep() { isOver = true }
    }

    /// Its thread stays where it is. The first one's has an heir.
    func park(_ member: Int) {
        members[member].job = nil
        if member != 0 {
            members[member].status = .gone
            parked.insert(member)
        }
        isOver = true
    }

    /// Only the first loop has a turn from now on, on whose thread `finish` follows.
    func end() {
        isOver = true
    }

    /// On the first loop's thread, after the end: what is under way elsewhere goes on to its end. What waits for a lock that is never given stays.
    ///
    /// - Returns: the loops that have left.
    func finish() -> Set<Int> {
        isOver = true
        _ = runloop_simulation_enter()
        var (last, rounds) = (Int.max, 0)
        while rounds < members.count + 1 {
            let underWay = members.indices.dropFirst().filter { members[$0].isUnderWay && mayGoOn(members[$0]) }
            // Sleeps end as well.
            let anySleeps = members.contains { $0.wait?.hasLimit == true }
            if underWay.isEmpty && anySleeps && countStep() && passTime() { continue }
            if underWay.isEmpty { break }
            rounds = underWay.count < last ? 0 : rounds + 1
            last = underWay.count
            for member in underWay { handOver(from: 0, to: Candidate(member: member)) }
        }
        for member in members where member.isIdle && !member.isNew { member.turn.give() }
        runloop_simulation_exit()
        return Set(members.indices.filter { !members[$0].isUnderWay }).subtracting(parked)
    }

    //===-- turns ----------------------------------------------------------------------------------------------------===//

    /// The calling thread has done something of which others may learn: they may go on before it does.
    func pause(_ event: @autoclosure () -> Story.Event? = nil) {
        guard runloop_simulation_enter() else { return }
        defer { runloop_simulation_exit() }
        let me = Int(runloop_simulation_member())
        if story != nil, let event = event() { tell(event, by: currentName) }
        if isOver { return }
        let candidates = candidates(current: me)
        if candidates.count > 1 { handOver(from: me, to: choose(candidates, .preemption)) }
    }

    func isUnderWay(_ task: UInt32) -> Bool { members.contains { $0.job?.number == task } }

    /// Tasks are numbered in the order in which they turn up, which is the same in each process.
    func number(of task: UInt32) -> Int {
        taskNumbers[task] = taskNumbers[task] ?? taskNumbers.count + 1
        return taskNumbers[task] ?? 0
    }

    /// A task is to go on. If it is the calling thread's own, that has nothing to do before it any more.
    func pause(afterResuming job: SimulatedTasks.Job) {
        let me = Int(runloop_simulation_member())
        let mine = members[me].job
        if job.number == 0 { members[me].job?.mayHaveSwitched = true }
        if mine?.number != job.number || job.number == 0 { pause(.resumed(job.number, job.place, name: job.name)) }
    }

    /// A loop begins an iteration.
    func beginIteration() {
        if !countStep() { isOver = true }
        runloop_simulation_begin_step()
        pause()
    }

    /// The loop has nothing to do for so long, by the simulation's clock. Returns when it may look again.
    func wait(_ member: Int, for duration: Int64) {
        guard runloop_simulation_enter() else { return }
        defer { runloop_simulation_exit() }
        members[member].status = .waiting(until: Nanoseconds.sum(now, duration))
        handOver(from: member, to: nextToGoOn(from: member))
        members[member].status = .ready
    }

    /// The calling thread has to wait, for what others do or for an instant. Returns when it may look again.
    private func block(_ wait: UnsafePointer<runloop_simulated_wait>?) {
        guard let wait = unsafe wait, runloop_simulation_enter() else { return }
        defer { runloop_simulation_exit() }
        let me = Int(runloop_simulation_member())
        // It has no turn to give away.
        if members[me].isGone {
            usleep(1000)
            return
        }
        members[me].status = unsafe .blocked(Wait(wait.pointee, since: now))
        unsafe countLooks(of: wait.pointee.looks, by: me)
        let next = nextToGoOn(from: me)
        if isOver && me == 0 && next.member == 0 && !mayGoOn(members[0]) { runloop_simulation_stay() }
        handOver(from: me, to: next)
        members[me].status = .ready
    }

    /// What becomes of a call of the kernel's: mostly the usual.
    private func chooseFault(ways: UInt32) -> UInt32 {
        guard choices.happens(percentage: 15) else { return 0 }
        return UInt32(1 + choices.choose(Int(ways) - 1))
    }

    /// Shall a loop that has nothing to do wake up all the same? On the thread of the loop whose turn it is, as is the next one.
    var wakesNow: Bool { wakesSpuriously && choices.choose(8) == 1 }

    /// The member can't go on, or need not. Time passes if nobody can.
    private func nextToGoOn(from member: Int) -> Candidate {
        var next = candidates(current: member)
        while next.isEmpty && countStep() && passTime() { next = candidates(current: member) }
        if next.isEmpty && !goesRound && exceeded == nil && awaitOutsiders() { next = candidates(current: member) }
        if !next.isEmpty { return choose(next, .turn) }
        isOver = true
        return Candidate(member: 0)
    }

    /// Each has a place among the threads whose locks are known.
    private static let mostMembers = Int(RUNLOOP_SIMULATION_THREADS) - 4

    func handOver(from member: Int, to next: Candidate) {
        let turn = members[member].turn
        if next.member == member {
            prepare(next)
        } else {
            give(to: next)
            turn.wait()
            if member == 0 { noteTrap() }
        }
    }

    private func give(to next: Candidate) {
        prepare(next)
        if members[next.member].isNew {
            members[next.member].isNew = false
            startProcessor(next.member)
        }
        members[next.member].turn.give()
    }

    private func prepare(_ next: Candidate) {
        members[next.member].lastChance = chances
        if let job = next.job {
            let job = jobs.take(at: job, step: steps, of: mostSteps)
            (members[next.member].job, members[next.member].status) = (job, .ready)
            if namesJobs { members[next.member].jobName = job.name }
            // An actor's job has no number, and its function is the runtime's.
            let isTask = job.number != 0 && !job.isEndOfSleep
            if isTask { _ = number(of: job.number) }
            // What it wakes is recorded.
            if story != nil, !job.isEndOfSleep {
                tell(.job(isTask ? job.place : nil), by: name(of: members[next.member]))
            }
        } else if story != nil && next.member != last {
            tell(.turn, by: name(of: members[next.member]))
        }
        last = next.member
    }

    /// Which may go on: the current member, those after it, and then the tasks that are ready, if there is a processor for one. After the end
    /// the first loop, which may have to wait for another one.
    func candidates(current: Int) -> [Candidate] {
        if isOver {
            if current != 0 || mayGoOn(members[0]) { return [Candidate(member: 0)] }
            let other = members.indices.dropFirst().first { members[$0].isUnderWay && mayGoOn(members[$0]) }
            return other.map { [Candidate(member: $0)] } ?? []
        }
        jobs.wake(until: now)
        var found: [Candidate] = []
        for offset in members.indices {
            let index = (current + offset) % members.count
            if mayGoOn(members[index]) {
                found.append(Candidate(member: index, id: members[index].job?.id ?? index))
            }
        }
        guard !jobs.isEmpty, let processor = idleProcessor() else { return found }
        jobs.visit { index, job in
            if !job.isMainActors { found.append(Candidate(member: processor, job: index, id: job.id)) }
        }
        return found
    }

    private func idleProcessor() -> Int? {
        if let idle = members.firstIndex(where: \.isIdle) { return idle }
        // One that waits in the middle of something counts for none: nobody knows how many a machine has.
        let count = members.count { $0.isProcessor && $0.wait == nil }
        if count >= processors || members.count >= Self.mostMembers { return nil }
        members.append(Member(processor: count + 1))
        return members.count - 1
    }

    /// Up to the first instant that anybody waits for, or somewhat later. False if there is none.
    private func passTime() -> Bool {
        let first = min(
            members.lazy.map(\.end).min() ?? .max, jobs.firstInstant, unsafe runloop_simulation_next_timer_ns(world))
        if first == .max { return false }
        if exceedsLimit(before: first) { return false }
        let steps = 4
        let delay = greatestDelay > 0 ? greatestDelay / Int64(steps) * Int64(choices.choose(steps + 1)) : 0
        now = max(now, first + delay)
        unsafe runloop_simulation_fire_timers(world)
        return true
    }

    private func startProcessor(_ member: Int) {
        let simulation = unsafe UInt(bitPattern: runloop_simulation_current())
        let turn = members[member].turn
        Processor.start { [self] in
            unsafe runloop_simulation_join(world, UnsafeMutableRawPointer(bitPattern: simulation), Int32(member))
            _ = runloop_simulation_enter()
            work(as: member, turn)
            runloop_simulation_exit()
            runloop_simulation_join(nil, nil, 0)
        }
    }
}
#endif
