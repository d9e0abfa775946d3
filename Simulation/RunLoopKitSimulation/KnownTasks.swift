#if os(Linux)
internal import RunLoopKit
internal import RunLoopKitTasks

/// One that waits, in words.
struct Waiter {
    var since: Int64
    let number: Int
    let text: String
}

/// The tasks of a simulation that were made and have not ended: if nothing can happen any more, those that wait. Used by the thread whose turn
/// it is.
final class KnownTasks: @unchecked Sendable {
    private struct Known {
        let task: TaskWords
        /// When it came to its await, and after how many steps.
        var since: Int64 = 0
        var step = 0
        /// There, it is a job of the main actor.
        var isOnMainActor = false
        /// The story has it.
        var isCancelled = false
        var hasEnded = false
    }

    /// What the story has not yet.
    enum Change {
        case cancelled, ended
    }

    private var tasks: [UInt32: Known] = [:]
    /// Those that no executor has had: an actor's own job runs them, perhaps to their end.
    private var new: Set<UInt32> = []
    /// When those came to an await that are not kept, since they are in their parents.
    private var instants: [UInt32: Int64] = [:]

    /// It was made, and has not begun; or it has, even to its end, before the one that made it went on.
    func add(_ task: TaskWords, at now: Int64) {
        guard task.isTask, !task.isInParent, !task.isComplete, tasks[task.number] == nil else { return }
        task.retain()
        tasks[task.number] = Known(task: task, since: now)
        new.insert(task.number)
    }

    /// It is about to go on.
    func begin(_ job: SimulatedTasks.Job) {
        if !new.isEmpty { new.remove(job.number) }
        if job.isEndOfSleep { return }
        guard tasks[job.number] == nil, let task = job.job.map({ TaskWords($0) }), task.isTask, !task.isInParent
        else { return }
        task.retain()
        tasks[job.number] = Known(task: task)
    }

    /// It has come to an await, or to its end.
    func end(_ job: SimulatedTasks.Job, at now: Int64, step: Int) {
        if job.number == 0 { return endNew() }
        guard let known = tasks[job.number] else {
            if !job.isEndOfSleep { instants[job.number] = now }
            return
        }
        if known.task.isComplete {
            remove(job.number)
        } else {
            tasks[job.number]?.since = now
            tasks[job.number]?.step = step
            tasks[job.number]?.isOnMainActor = job.isMainActors && !job.mayHaveSwitched
        }
    }

    /// An actor has run tasks.
    private func endNew() {
        for number in new where tasks[number]?.task.isComplete == true { remove(number) }
    }

    private func remove(_ number: UInt32) {
        new.remove(number)
        tasks.removeValue(forKey: number)?.task.release()
    }

    /// Those that wait, and are not among the `excluded`.
    func waiting(_ schedule: Schedule, but excluded: Set<UInt32> = []) -> [Waiter] {
        var found: [Waiter] = []
        for (number, known) in tasks {
            // An actor has completed it, or it is not at an await.
            if known.task.isComplete || schedule.isUnderWay(number) || excluded.contains(number) { continue }
            let text = known.task.text(schedule, isOnMainActor: known.isOnMainActor)
            found.append(Waiter(since: known.since, number: schedule.number(of: number), text: text))
            // A task that is awaited is there, whatever keeps it.
            var next = known.task.awaitedTask
            while let task = next, task.isInParent, !schedule.isUnderWay(task.number) {
                let since = instants[task.number] ?? known.since
                found.append(
                    Waiter(since: since, number: schedule.number(of: task.number), text: task.text(schedule)))
                next = task.awaitedTask
            }
        }
        return found
    }

    //===-- for the story ---------------------------------------------------------------------------------------------===//

    /// What has become of them since the last time, those that ended first.
    func changes(_ number: (UInt32) -> Int) -> [(task: TaskWords, change: Change)] {
        var found: [(task: TaskWords, change: Change)] = []
        for key in tasks.keys {
            guard let known = tasks[key] else { continue }
            if known.task.isCancelled && !known.isCancelled && !known.task.isComplete {
                found.append((known.task, .cancelled))
                tasks[key]?.isCancelled = true
            }
            if known.task.isComplete && !known.hasEnded {
                found.append((known.task, .ended))
                tasks[key]?.hasEnded = true
            }
        }
        return found.sorted { number($0.task.number) < number($1.task.number) }
    }

    /// The story has it: false if it had before, or it has ended.
    func noteCancellation(of task: TaskWords) -> Bool {
        if task.isComplete || task.isCancelled { return false }
        tasks[task.number]?.isCancelled = true
        return true
    }

    //===-- which do not get on ---------------------------------------------------------------------------------------===//

    /// Whether it waits, since before that step, for what none of those gives that sleep or are ready: a continuation, or tasks that do so.
    func isStuck(_ number: UInt32, since step: Int, but excluded: Set<UInt32>, _ schedule: Schedule) -> Bool {
        guard let known = tasks[number], known.step <= step, !known.task.isComplete else { return false }
        return isStuck(known.task, since: step, but: excluded, schedule)
    }

    private func isStuck(_ task: TaskWords, since step: Int, but excluded: Set<UInt32>, _ schedule: Schedule) -> Bool {
        if excluded.contains(task.number) || schedule.isUnderWay(task.number) || task.isComplete { return false }
        switch task.awaited {
        case .continuation: return true
        case .task:
            guard let awaited = task.awaitedTask else { return false }
            if tasks[awaited.number] != nil { return isStuck(awaited.number, since: step, but: excluded, schedule) }
            return awaited.isInParent && isStuck(awaited, since: step, but: excluded, schedule)
        case .taskGroup:
            let children = tasks.values.filter { $0.task.parent == task.address && !$0.task.isComplete }
            return !children.isEmpty
                && children.allSatisfy { isStuck($0.task.number, since: step, but: excluded, schedule) }
        case .something: return false
        }
    }

    /// Those that came to an await after that step.
    func busy(since step: Int) -> Set<UInt32> { Set(tasks.filter { $0.value.step > step }.keys) }

    var numbers: Set<UInt32> { Set(tasks.keys) }

    func forget() {
        for known in tasks.values { known.task.release() }
        (tasks, new, instants) = ([:], [], [:])
    }
}

extension TaskWords {
    fileprivate func text(_ schedule: Schedule, isOnMainActor: Bool = false) -> String {
        let place = CodePlace(of: self)?.fullWithActor ?? "a function without a name"
        let what =
            switch awaited {
            case .task: awaitedTask.map { "task \(schedule.number(of: $0.number))" } ?? "a task"
            case .continuation: "a continuation"
            case .taskGroup: "a task group"
            case .something: "something"
            }
        return
            "Task \(schedule.number(of: number)) awaits \(what) in \(place)\(isOnMainActor ? ", on the main actor," : "")"
    }
}
#endif
