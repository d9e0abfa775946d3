import Dispatch
import RunLoopKit
import Synchronization

/// A run ends when nothing can ever happen in its mode. A thread that should live on gives its loop something to wait for,
/// and another thread stops it.
enum Threads: Act {
    static let title = "Threads"
    static let shows =
        "A thread without anything to wait for ends at once; a resident one works until it is told to stop."

    static func perform(on stage: Stage) throws {
        Thread("idle") {
            let result = RunLoop.current.run(mode: .default)
            stage.tell("nothing to wait for: \(result)")
        }.join()

        let resident = Resident("resident") { result in stage.tell("told to stop: \(result)") }
        for job in 1...3 {
            // Each job finds the thread asleep.
            try stage.wait(for: "the resident thread to sleep") { resident.isWaiting }
            Thread.sleep(for: .milliseconds(20))
            stage.tell("job \(job) is given")
            resident.perform { stage.tell("job \(job) is done") }
            try stage.wait(for: "job \(job)") { stage.story.contains("job \(job) is done") }
        }
        stage.tell("that was all")
        resident.stop()

        // The threads are stopped while they start. If stops were not remembered, those that come too early would be lost.
        let stopped = Atomic(0)
        for _ in 1...100 {
            Resident("brief") { result in
                if result == .stopped { stopped.add(1, ordering: .relaxed) }
            }.stop()
        }
        stage.tell("100 more started, and stopped at once")

        try stage.check(
            "the story is complete, and in order", stage.story,
            is: ["nothing to wait for: finished"]
                + (1...3).flatMap { ["job \($0) is given", "job \($0) is done"] }
                + ["that was all", "told to stop: stopped", "100 more started, and stopped at once"])
        let workers = Set(stage.notes.filter { $0.text.hasSuffix("is done") }.map(\.thread))
        try stage.check("one and the same thread did all jobs", workers, is: ["resident"])
        try stage.check("no stop got lost, however early it came", stopped.load(ordering: .relaxed), is: 100)
    }
}

/// A thread that sleeps in its loop whenever there is nothing to do.
final class Resident: Sendable {
    private let thread: Thread
    private let loop: RunLoop

    init(_ name: String, whenDone: @escaping @Sendable (RunLoop.RunResult) -> Void) {
        let loop = Mutex<RunLoop?>(nil)
        let isThere = DispatchSemaphore(value: 0)
        thread = Thread(name) {
            // Only the thread itself can ask for its loop; it then passes the loop to others.
            loop.withLock { $0 = .current }
            isThere.signal()
            // A run in an empty mode finishes at once. This keeps the mode from being empty.
            guard let keepAlive = try? RunLoop.KeepAlive(on: .current) else { fatalError("Memory ran out.") }
            whenDone(RunLoop.current.run(mode: .default))
            keepAlive.invalidate()
        }
        isThere.wait()
        self.loop = loop.withLock { $0! }
    }

    var isWaiting: Bool { loop.isWaiting }

    /// Wakes the thread and performs a job on it.
    func perform(_ job: @escaping @Sendable () -> Void) { loop.perform(job) }

    /// Ends the thread after the jobs that it has begun, and waits for that. The stop is remembered if no run has begun yet.
    func stop() {
        loop.stop(remembered: true)
        thread.join()
    }
}
