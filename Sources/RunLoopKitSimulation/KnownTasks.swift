internal import RunLoopKit

/// The tasks of a simulation that have begun and not ended: if nothing can happen any more, those that wait. Used by the thread whose turn
/// it is.
final class KnownTasks: @unchecked Sendable {
    private var tasks: [UInt32: (task: RetainedTask, since: Int64)] = [:]

    /// It is about to go on.
    func begin(_ job: SimulatedTasks.Job) {
        guard tasks[job.number] == nil, let task = job.job.flatMap({ RetainedTask($0) }) else { return }
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
            let time = Duration.nanoseconds(known.since - start)
            found.append((schedule.number(of: number), "\(known.task.text(schedule)) since \(time)"))
            // A task that is awaited is there, whoever keeps it.
            var next = known.task.awaitedTask
            while let task = next, task.isInParent, !schedule.isUnderWay(task.number) {
                found.append((schedule.number(of: task.number), task.text(schedule)))
                next = task.awaitedTask
            }
        }
        return found.sorted { $0.number < $1.number }.map(\.text)
    }

    func forget() {
        for known in tasks.values { known.task.release() }
        tasks = [:]
    }
}

/// A task of the runtime's, by what Swift 6.3 has in it: behind the context (CodePlace.swift) three words of the runtime's, then its status, and
/// what it has noted of it.
private struct RetainedTask {
    let job: UnownedJob
    private let words: UnsafePointer<UInt>

    /// `nil` if it can't be kept: no task, or an `async let`, whose memory is its parent's.
    init?(_ job: UnownedJob) {
        self.init(words: unsafeBitCast(job, to: UnsafePointer<UInt>.self))
        let kindOfTask = 0
        if words[4] & 0xff != kindOfTask || isInParent { return nil }
        _ = Unmanaged<AnyObject>.fromOpaque(words).retain()
    }

    private init(words: UnsafePointer<UInt>) {
        self.words = words
        job = unsafeBitCast(words, to: UnownedJob.self)
    }

    func release() { Unmanaged<AnyObject>.fromOpaque(words).release() }

    var number: UInt32 { CodePlace.taskNumber(of: job) }
    var isInParent: Bool { words[4] & (1 << 28) != 0 }
    private var status: UInt { words[12] }
    var isComplete: Bool { status & 0x2000 != 0 }

    func text(_ schedule: Schedule) -> String {
        let place = CodePlace(of: job)?.full ?? "a function without a name"
        let what =
            switch dependency?.kind {
            case 1: awaitedTask.map { "task \(schedule.number(of: $0.number))" } ?? "a task"
            case 2: "a continuation"
            case 3: "a task group"
            default: "something"
            }
        return "Task \(schedule.number(of: number)) awaits \(what) in \(place)"
    }

    var awaitedTask: RetainedTask? {
        guard let dependency, dependency.kind == 1 else { return nil }
        return UnsafePointer<UInt>(bitPattern: dependency.what).map { RetainedTask(words: $0) }
    }

    /// What it waits for. The note of that has two words of every note, what is waited for, a function, and of which kind it is.
    private var dependency: (kind: UInt, what: UInt)? {
        let hasDependency: UInt = 0x4000
        guard status & hasDependency != 0, let note = UnsafePointer<UInt>(bitPattern: words[13]) else { return nil }
        return (note[4] & 0xff, note[2])
    }
}
