#if os(Linux)
internal import RunLoopKit
internal import RunLoopKitTasks

/// The tasks of a simulation that have begun and not ended: if nothing can happen any more, those that wait. Used by the thread whose turn
/// it is.
final class KnownTasks: @unchecked Sendable {
    private var tasks: [UInt32: (task: TaskWords, since: Int64)] = [:]

    /// It is about to go on.
    func begin(_ job: SimulatedTasks.Job) {
        guard tasks[job.number] == nil, let task = job.job.map({ TaskWords($0) }), task.isTask, !task.isInParent
        else { return }
        task.retain()
        tasks[job.number] = (task, 0)
    }

    /// It has come to an await, or to its end.
    func end(_ job: SimulatedTasks.Job, at now: Int64) {
        guard let known = tasks[job.number] else { return }
        if known.task.isComplete {
            known.task.release()
            tasks[job.number] = nil
        } else {
            tasks[job.number]?.since = now
        }
    }

    /// In the order in which they turned up.
    func waiting(_ schedule: Schedule, since start: Int64) -> [String] {
        var found: [(number: Int, text: String)] = []
        for (number, known) in tasks {
            // An actor has completed it, or it is not at an await.
            if known.task.isComplete || schedule.isUnderWay(number) { continue }
            let time = Nanoseconds.inSeconds(known.since - start)
            found.append((schedule.number(of: number), "\(known.task.text(schedule)) since \(time)"))
            // A task that is awaited is there, whatever keeps it.
            var next = known.task.awaitedTask
            while let task = next, task.isInParent, !schedule.isUnderWay(task.number) {
                found.append((schedule.number(of: task.number), task.text(schedule)))
                next = task.awaitedTask
            }
        }
        return found.sorted { $0.number < $1.number }.map(\.text)
    }

    var numbers: Set<UInt32> { Set(tasks.keys) }

    func forget() {
        for known in tasks.values { known.task.release() }
        tasks = [:]
    }
}

extension TaskWords {
    func text(_ schedule: Schedule) -> String {
        let place = CodePlace(of: self)?.full ?? "a function without a name"
        let what =
            switch awaited {
            case .task: awaitedTask.map { "task \(schedule.number(of: $0.number))" } ?? "a task"
            case .continuation: "a continuation"
            case .taskGroup: "a task group"
            case .something: "something"
            }
        return "Task \(schedule.number(of: number)) awaits \(what) in \(place)"
    }
}
#endif
