#if os(Linux)
#if compiler(<6.4)

internal import CRunLoopCore
internal import RunLoopKit
internal import RunLoopKitTasks
internal import Synchronization
@_spi(ExperimentalCustomExecutors) internal import _Concurrency

/// The tasks of the main loop that have begun and not ended, if somebody wants to know.
///
/// What a task awaits is read when somebody asks, on whatever thread. It may go on at that moment: so what it has noted is read with care, and
/// may be of two moments. It can't be freed, since the list retains it.
@safe final class TaskList: TaskLister, @unchecked Sendable {
    static let shared = TaskList()

    private struct Entry {
        let task: TaskWords
        /// Since it runs, or awaits.
        var since: Int64
        /// Where it went on, while it runs.
        var running: CodePlace?

        var isRunning: Bool { running != nil }
    }

    private static let mostLines = 200

    private let process = ForkGeneration()
    private let isOn = Atomic(false)
    private let entries = Guarded<[UInt32: Entry]>([:])
    /// With more entries, those that another executor has completed are looked for. On the loop's thread.
    private var manyEntries = fewEntries
    private static let fewEntries = 1000

    private init() {}

    var isListing: Bool {
        get { isOn.load(ordering: .relaxed) }
        set {
            isOn.store(newValue, ordering: .relaxed)
            if !newValue { forget { _ in true } }
        }
    }

    /// A job is about to run.
    ///
    /// - Returns: the number of its task, if `end` is to be called.
    func begin(_ job: JobLink) -> UInt32? {
        if !isOn.load(ordering: .relaxed) { return nil }
        let task = TaskWords(job.job)
        if !task.isTask || task.isInParent { return nil }
        let now = runloop_get_now_ns(nil)
        guard let place = CodePlace(of: task) else { return nil }
        let count = entries.withLock { entries in
            if entries[task.number] == nil { task.retain() }
            entries[task.number] = Entry(task: task, since: now, running: place)
            return entries.count
        }
        if count > manyEntries { manyEntries = max(Self.fewEntries, 2 * forgetCompleted()) }
        return task.number
    }

    /// Tasks that another executor has completed.
    ///
    /// - Returns: how many are left.
    @discardableResult
    private func forgetCompleted() -> Int { forget { $0.task.isComplete && !$0.isRunning } }

    /// It has come to an await, or to its end.
    func end(_ number: UInt32) {
        // The job may have forked, and this is the child.
        if process.isOver { return }
        let now = runloop_get_now_ns(nil)
        let ended = entries.withLock { entries -> TaskWords? in
            guard let task = entries[number]?.task else { return nil }
            let isComplete = task.isComplete
            entries[number] = isComplete ? nil : Entry(task: task, since: now)
            return isComplete ? task : nil
        }
        ended?.release()
    }

    @discardableResult
    private func forget(where isForgotten: (Entry) -> Bool) -> Int {
        // A forked child has no tasks, and the thread that had the lock is its parent's.
        if process.isOver { return 0 }
        let (forgotten, left) = entries.withLock { entries in
            let forgotten = entries.values.filter(isForgotten)
            for entry in forgotten { entries[entry.task.number] = nil }
            return (forgotten, entries.count)
        }
        for entry in forgotten { entry.task.release() }
        return left
    }

    /// Those that have waited longest come first.
    var lines: [String] {
        if process.isOver { return [] }
        forgetCompleted()
        let now = runloop_get_now_ns(nil)
        // Retained meanwhile: the loop goes on.
        let entries = entries.withLock { entries in
            for entry in entries.values { entry.task.retain() }
            return entries
        }
        defer { for entry in entries.values { entry.task.release() } }
        let numbers = Dictionary(uniqueKeysWithValues: entries.map { ($1.task.address, $0) })
        let sorted = entries.sorted { ($0.value.since, $0.key) < ($1.value.since, $1.key) }
        let lines = sorted.prefix(Self.mostLines).map { number, entry in
            let milliseconds = Double((now - entry.since) / 1_000_000)
            return "task \(number) \(text(of: entry, numbers)), for \(milliseconds / 1000) s"
        }
        return lines + (sorted.count > lines.count ? ["and \(sorted.count - lines.count) more"] : [])
    }

    /// What it does, and where. `numbers` are those of the tasks, by address.
    private func text(of entry: Entry, _ numbers: [UInt: UInt32]) -> String {
        if let place = entry.running { return "runs in \(place.full)" }
        let what =
            switch entry.task.awaited {
            case .task(let address): "awaits \(numbers[address].map { "task \($0)" } ?? "a task")"
            case .continuation: "awaits a continuation"
            case .taskGroup: "awaits its task group"
            case .something: "is at an await"
            }
        return "\(what) in \(CodePlace(ofRunning: entry.task)?.full ?? "a function without a name")"
    }
}

#endif
#endif
