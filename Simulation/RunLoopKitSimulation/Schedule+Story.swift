#if os(Linux)
internal import CRunLoopSimulation
internal import RunLoopKit
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

    func name(of member: Member) -> String { member.job.map { name(of: $0, member.jobName) } ?? member.name }

    /// Its name is read before it runs.
    func name(of job: SimulatedTasks.Job, _ name: String?) -> String {
        if job.isEndOfSleep { return "the end of a sleep" }
        if job.number != 0 { return "task \(number(of: job.number))" }
        return job.job == nil ? "a call that blocks" : name ?? "an actor"
    }

    /// Those that wait, the one that has waited longest first, but not the `excluded` tasks.
    func waiting(since start: Int64, but excluded: Set<UInt32> = []) -> [String] {
        let blocked = members.enumerated().compactMap { index, member in
            member.wait.map { wait in
                Waiter(
                    since: wait.since, number: index - members.count,
                    text: "\(name(of: member)) waits for \(wait)".capitalizedFirst)
            }
        }
        let waiters = blocked + jobs.known.waiting(self, but: excluded)
        return waiters.sorted { ($0.since, $0.number) < ($1.since, $1.number) }.map { waiter in
            "\(waiter.text) since \(Nanoseconds.inSeconds(waiter.since - start))"
        }
    }

    /// Where the last steps before there were too many went on, the most frequent first.
    var busiest: [String] {
        (roundabout.map { ["\($0.full), which asks for the time again and again"] } ?? []) + jobs.busiest
    }

    func tell(_ event: Story.Event, by who: String) {
        if isOver { return }
        noteChanges(by: currentName)
        story?.add(event, by: who, at: now, number: number(of:))
    }

    /// Which tasks have ended, and which were cancelled, since the last time: by the one that goes on.
    func noteChanges(by who: String) {
        guard let story, !isOver else { return }
        for (task, change) in jobs.known.changes(number(of:)) {
            switch change {
            case .cancelled: story.add(.cancelled(task.number), by: who, at: now, number: number(of:))
            case .ended: noteEnd(of: task)
            }
        }
    }

    private func noteEnd(of task: TaskWords) {
        let event: Story.Event = task.thrown.map { .failed(nameOfError($0)) } ?? .returned
        story?.add(event, by: "task \(number(of: task.number))", at: now, number: number(of:))
    }

    /// What the C half reports of tasks, for the story.
    func followTasks() {
        unsafe world.pointee.created = { simulation, task in
            guard let task = unsafe task, let schedule = unsafe RunLoop.Simulation.at(simulation)?.schedule else {
                return
            }
            schedule.jobs.known.add(unsafe TaskWords(unsafeBitCast(task, to: UnownedJob.self)), at: schedule.now)
        }
        if story == nil { return }
        runloop_simulation_follow_throws()
        unsafe world.pointee.cancels = { simulation, task in
            let task = unsafe task.map { unsafe TaskWords(unsafeBitCast($0, to: UnownedJob.self)) }
            unsafe RunLoop.Simulation.at(simulation)?.schedule.noteCancellation(of: task)
        }
        unsafe world.pointee.thrown = { simulation, error, type in
            guard let schedule = unsafe RunLoop.Simulation.at(simulation)?.schedule else { return }
            if let error = unsafe error {
                schedule.noteThrow(of: TaskWords.error(at: UInt(bitPattern: error)))
            } else if let type = unsafe type {
                schedule.tell(.threw("\(unsafe unsafeBitCast(type, to: Any.Type.self))"))
            }
        }
    }

    private func noteCancellation(of task: TaskWords?) {
        guard let task else { return tell(.cancelsGroup) }
        if jobs.known.noteCancellation(of: task) { tell(.cancels(task.number)) }
    }

    private func noteThrow(of error: any Error) {
        // It ends the run, and is what the failure begins with.
        if !(error is RunLoop.Simulation.UnmetRequirement) { tell(.threw(nameOfError(error))) }
    }
}

/// Its type, and the case, if the compiler knows that. Its own words would be code of the program's.
private func nameOfError(_ error: any Error) -> String {
    let name = "\(type(of: error))"
    if error is any CustomStringConvertible || error is any CustomDebugStringConvertible
        || error is any TextOutputStreamable || error is any CustomReflectable
    {
        return name
    }
    let mirror = Mirror(reflecting: error)
    return mirror.displayStyle == .enum && mirror.children.isEmpty ? "\(name).\(error)" : name
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
#endif
