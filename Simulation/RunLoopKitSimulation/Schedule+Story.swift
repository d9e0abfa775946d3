#if os(Linux)
internal import CRunLoopSimulation
internal import RunLoopKitTasks

// The story of a run.
extension Schedule {
    /// For the story only.
    func tell(_ event: @autoclosure () -> Story.Event) {
        if story == nil || !runloop_simulation_enter() { return }
        tell(event(), by: currentName)
        runloop_simulation_exit()
    }

    /// Of the task that runs on this thread, which an actor's job may have begun.
    var currentName: String {
        let (task, member) = (TaskWords.numberOfCurrent, members[Int(runloop_simulation_member())])
        return task == 0 || task == member.job?.number ? name(of: member) : "task \(number(of: task))"
    }

    func name(of member: Member) -> String {
        guard let job = member.job else { return member.name }
        if job.isEndOfSleep { return "the end of a sleep" }
        if job.number != 0 { return "task \(number(of: job.number))" }
        return job.job == nil ? "a call that blocks" : "an actor"
    }

    /// Those that wait in the middle of something, for a lock for instance.
    var blocked: [String] {
        members.compactMap { member in
            guard let wait = member.wait else { return nil }
            return "\(name(of: member)) waits for \(wait)".capitalizedFirst
        }
    }

    /// Where the last steps before there were too many went on, the most frequent first.
    var busiest: [String] {
        (roundabout.map { ["\($0.full), which asks for the time again and again"] } ?? []) + jobs.busiest
    }

    func tell(_ event: Story.Event, by who: String) {
        if !isOver { story?.add(event, by: who, at: now, number: number(of:)) }
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
#endif
