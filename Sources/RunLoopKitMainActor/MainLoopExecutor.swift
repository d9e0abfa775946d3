#if os(Linux)
#if compiler(<6.4)

internal import CRunLoopCore
internal import RunLoopKit
internal import Synchronization
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency

/// The executor of the main actor: its jobs run on the main loop itself, in the common modes.
package final class MainLoopExecutor: MainExecutor, MainLoopScheduling {
    package static let shared = MainLoopExecutor()
    package static let executor = MainLoopJobs.Executor.main

    private let isStopped = Atomic(false)

    private init() {}

    package func isIsolatingCurrentContext() -> Bool? { MainLoopJobs.shared.isOnThread }

    package func checkIsolated() {
        precondition(MainLoopJobs.shared.isOnThread, "This must run on the main actor's thread, the initial one.")
    }

    /// Runs the main loop until `stop()`. The runtime calls it on the initial thread below an `async` `main`. A stop of the
    /// loop only ends runs that are nested in it.
    package func run() throws {
        repeat { RunLoop.main.run() } while !takeStop()
    }

    package func runUntil(_ condition: () -> Bool) throws {
        while !RunLoop.main.run(until: condition, deadline: nil) && !takeStop() {}
    }

    package func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        RunLoop.main.stop(remembered: true)
    }

    private func takeStop() -> Bool { isStopped.exchange(false, ordering: .sequentiallyConsistent) }
}

/// An executor whose jobs run on the main loop, and whose delayed jobs are timers of it.
package protocol MainLoopScheduling: SchedulingExecutor {
    static var executor: MainLoopJobs.Executor { get }
}

extension MainLoopScheduling {
    package func enqueue(_ job: consuming ExecutorJob) {
        MainLoopJobs.shared.add(job, for: Self.executor)
    }

    package func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
        add(job, after: nanoseconds(delay), tolerance: nanoseconds(tolerance ?? .zero))
    }

    package func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
        add(job, after: nanoseconds(clock.now.duration(to: instant)), tolerance: nanoseconds(tolerance ?? .zero))
    }

    private func add(_ job: consuming ExecutorJob, after delay: Int64, tolerance: Int64) {
        MainLoopJobs.shared.add(job, for: Self.executor, after: delay, tolerance: tolerance)
    }
}

private func nanoseconds<Duration: DurationProtocol>(_ duration: Duration) -> Int64 {
    guard let duration = duration as? Swift.Duration else {
        preconditionFailure("The main loop waits by clocks whose durations are Swift.Duration.")
    }
    return Nanoseconds.of(duration)
}

/// The main actor on the main loop, and the runtime's own default executor.
enum MainActorExecutorFactory: ExecutorFactory {
    static var mainExecutor: any MainExecutor { MainLoopExecutor.shared }
    static var defaultExecutor: any TaskExecutor { PlatformExecutorFactory.defaultExecutor }
}

#endif
#endif
