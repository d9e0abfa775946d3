#if os(Linux)
internal import CRunLoopSimulation
internal import RunLoopKit
internal import RunLoopKitTasks

// Threads of a run that have come to what would end the process.
extension Schedule {
    /// When there is a first member. If its own thread can't go on, the `heir` does.
    func expectTraps(heir: Turn) {
        unsafe world.pointee.heir_turn = unsafe heir.address
        unsafe world.pointee.main_turn = unsafe members[0].turn.address
        unsafe world.pointee.leak = { simulation, text in
            guard let text = unsafe text, let simulation = unsafe RunLoop.Simulation.at(simulation) else {
                return false
            }
            return unsafe simulation.schedule.noteLeak(String(cString: text))
        }
    }

    /// On the first member's thread or on its heir's, which has got the turn: perhaps since the thread that had it stays where it is.
    func noteTrap() {
        if unsafe !world.pointee.has_trap { return }
        let (member, task) = unsafe (Int(world.pointee.trap.member), world.pointee.trap.task)
        let isTrap = unsafe world.pointee.trap.signal >= 0
        let number = unsafe task.map { unsafe TaskWords(unsafeBitCast($0, to: UnownedJob.self)).number } ?? 0
        let who = number == 0 ? name(of: members[member]) : "task \(self.number(of: number))"
        guard isTrap else {
            unsafe world.pointee.has_trap = false
            return end()
        }
        let found = unsafe RunLoop.Simulation.Trap(world, in: who, isOnLoop: !members[member].isProcessor)
        unsafe (world.pointee.has_trap, world.pointee.has_message) = (false, false)
        tell(.trapped(found), by: who)
        if trap == nil { trap = found }
        park(member)
    }

    /// A task was resumed that is to go on already: with a checked continuation the runtime says so, and with an unsafe one the task would go on
    /// twice, and sooner or later in memory that is no longer its own.
    func noteSecondResume(of task: UInt32) {
        if unsafe runloop_simulation_current() == nil { return }
        guard runloop_simulation_enter() else { return }
        defer { runloop_simulation_exit() }
        if isOver { return }
        let found = RunLoop.Simulation.Trap(secondResumeOf: number(of: task), in: currentName)
        tell(.trapped(found), by: currentName)
        trap = found
        end()
    }

    /// A continuation that nobody can resume any more. False after the end, when nobody would.
    private func noteLeak(_ text: String) -> Bool {
        guard runloop_simulation_enter() else { return false }
        defer { runloop_simulation_exit() }
        if isOver { return false }
        let found = RunLoop.Simulation.LeakedContinuation(text)
        tell(.leaked(found), by: currentName)
        leak = found
        end()
        return true
    }
}
#endif
