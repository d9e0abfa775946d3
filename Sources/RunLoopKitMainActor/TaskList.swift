#if compiler(>=6.3) && compiler(<6.4)

    internal import CRunLoopCore
    internal import RunLoopKit
    internal import RunLoopKitTasks
    internal import Synchronization
    @_spi(ExperimentalCustomExecutors) internal import _Concurrency

    /// The tasks of the main loop that have begun and not ended, if somebody wants to know.
    ///
    /// A task that comes to an await is looked at before the loop does anything else. Another executor may have it go on at that moment: so what
    /// it has noted is read with care, and may be of two moments. It can't be freed, since the list retains it.
    final class TaskList: TaskLister {
        static let shared = TaskList()

        private struct Entry {
            let task: TaskWords
            var isRunning = true
            /// Since it runs, or awaits.
            var since: Int64
            var awaited = TaskWords.Awaited.something
            var place: CodePlace?
        }

        private static let mostLines = 200

        private let process = ForkGeneration()
        private let isOn = Atomic(false)
        private let entries = Guarded<[UInt32: Entry]>([:])

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
        /// - Returns: the number of its task, if `end` is to be told.
        func begin(_ job: JobLink) -> UInt32? {
            if !isOn.load(ordering: .relaxed) { return nil }
            let task = TaskWords(job.job)
            if !task.isTask || task.isInParent { return nil }
            let now = runloop_get_now_ns(nil)
            let place = CodePlace(of: task)
            entries.withLock { entries in
                if entries[task.number] == nil { task.retain() }
                entries[task.number] = Entry(task: task, since: now, place: place)
            }
            return task.number
        }

        /// It has come to an await, or to its end.
        func end(_ number: UInt32) {
            let now = runloop_get_now_ns(nil)
            let ended = entries.withLock { entries -> TaskWords? in
                guard let entry = entries[number] else { return nil }
                if entry.task.isComplete {
                    entries[number] = nil
                    return entry.task
                }
                entries[number] = Entry(
                    task: entry.task, isRunning: false, since: now, awaited: entry.task.awaited,
                    place: CodePlace(ofRunning: entry.task))
                return nil
            }
            ended?.release()
        }

        private func forget(where isForgotten: (Entry) -> Bool) {
            // A forked child has no tasks, and who had the lock is its parent's.
            if process.isOver { return }
            let forgotten = entries.withLock { entries in
                let forgotten = entries.values.filter(isForgotten)
                for entry in forgotten { entries[entry.task.number] = nil }
                return forgotten
            }
            for entry in forgotten { entry.task.release() }
        }

        /// Those that have waited longest come first.
        var lines: [String] {
            if process.isOver { return [] }
            // Another executor has completed these.
            forget { $0.task.isComplete && !$0.isRunning }
            let now = runloop_get_now_ns(nil)
            let entries = entries.withLock { $0 }
            let numbers = Dictionary(uniqueKeysWithValues: entries.map { ($1.task.address, $0) })
            let sorted = entries.sorted { ($0.value.since, $0.key) < ($1.value.since, $1.key) }
            let lines = sorted.prefix(Self.mostLines).map { number, entry in
                let what =
                    switch entry.awaited {
                    case _ where entry.isRunning: "runs"
                    case .task(let address): "awaits \(numbers[address].map { "task \($0)" } ?? "a task")"
                    case .continuation: "awaits a continuation"
                    case .taskGroup: "awaits its task group"
                    case .something: "is at an await"
                    }
                let milliseconds = Double((now - entry.since) / 1_000_000)
                let place = entry.place?.full ?? "a function without a name"
                return "task \(number) \(what) in \(place), for \(milliseconds / 1000) s"
            }
            return lines + (sorted.count > lines.count ? ["and \(sorted.count - lines.count) more"] : [])
        }
    }

#endif
