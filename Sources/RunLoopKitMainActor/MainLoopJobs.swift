#if os(Linux)
#if compiler(<6.4)

internal import CRunLoopCore
internal import CRunLoopOverlay
internal import RunLoopKit
internal import Synchronization
@_spi(ExperimentalCustomExecutors) internal import _Concurrency

/// The jobs that the executors of the main loop have accepted and not begun.
///
/// Any thread pushes onto `inbox`, a stack; the loop's thread takes it whole and appends it, oldest first, to the bands, which only
/// it touches. The links are in the jobs, so a job needs no memory.
///
/// A post in the common modes runs a batch. `isPosted` says that there is one which has not begun. A thread that adds a job pushes it and
/// then looks at `isPosted`; a batch clears `isPosted` and then takes the inbox, all in one order for all threads. So either the
/// batch takes the job, or that thread finds `isPosted` clear and posts. When a batch leaves jobs behind, it posts again. A
/// nested run does not perform what was posted before the current drain began (R105), so a run that begins posts again.
///
/// A job that nobody would run is offered to the main dispatch queue. `isServed` says that a run of a common mode is active, which has
/// its drain, or its end, before it. Only the loop's thread writes it: when a run has begun, and when the outermost one is about
/// to end. Any thread reads it, when it has pushed a job; and the loop's thread, when it has cleared it, looks whether there
/// are jobs. Those four are in one order for all threads as well. So a job that a run leaves behind, however late it came, is
/// found by the end of that run, or the thread that added it finds `isServed` clear; either offers it. Both may, which costs a block.
@safe package final class MainLoopJobs: @unchecked Sendable {
    package static let shared = MainLoopJobs()

    /// Which executor accepted a job, and so on which it runs.
    package enum Executor: UInt {
        case main, byDefault
    }

    /// A batch is so many jobs, or those that begin within so many nanoseconds. Then timers and descriptors get their turn.
    private static let batchLimit = 256
    private static let batchDuration: Int64 = 1_000_000

    /// The main loop, which is never freed.
    @safe private let loop: OpaquePointer
    private let end = RunLoop.main.end
    private let inbox = Atomic<UInt>(0)
    private let isPosted = Atomic(false)
    private let isServed = Atomic(false)
    /// How many jobs wait for their instants.
    private let delayedJobs = Atomic(0)
    private let process = ForkGeneration()
    let running = RunningJob()
    /// On the loop's thread only, as is everything below.
    private var bands = JobBands()
    /// How many runs of common modes go on; a guest's counts while it iterates.
    private var activeRuns = 0
    private var activeJobs = 0

    /// The default executor, if it is the main loop's. Set when the program is loaded.
    package var defaultExecutor: UnownedTaskExecutor?
    /// Called whenever a job is added that no active run would serve. Set when the program is loaded, as the next one is.
    package var whenNobodyRuns: (@Sendable () -> Void)?
    /// Called on the loop's thread when no run of a common mode is active any more.
    package var whenRunsHaveEnded: (() -> Void)?

    private init() {
        guard let loop = unsafe runloop_main() else {
            preconditionFailure("The main run loop cannot be made: descriptors or memory ran out.")
        }
        self.loop = unsafe loop
        let runs = RunLoop.Observer([.entry, .exit]) { [unowned self] _, activity in
            if activity == .entry { runBegins() } else { runEnds() }
        }
        RunLoop.main.addUnlessOver(runs, forMode: .common)
    }

    package var isOnThread: Bool { unsafe runloop_is_current(loop) }

    //===-- adding -----------------------------------------------------------------------------------------------===//

    package func add(_ job: consuming ExecutorJob, for executor: Executor) {
        add(JobLink(job, executor))
    }

    /// Adds a job when so many nanoseconds have passed, by the loop's time.
    package func add(
        _ job: consuming ExecutorJob, for executor: Executor, after delay: Int64, tolerance: Int64
    ) {
        checkProcess()
        var config = unsafe runloop_timer_config()
        unsafe config.fire_ns = Nanoseconds.fromNow(of: loop, delay)
        unsafe config.tolerance_ns = tolerance
        unsafe config.context.info = UnsafeMutableRawPointer(JobLink(job, executor).words)
        unsafe config.fire = { _, info in unsafe MainLoopJobs.shared.addDelayed(info) }
        delayedJobs.add(1, ordering: .relaxed)
        var timer: OpaquePointer?
        var result = unsafe runloop_timer_create(&config, &timer)
        unsafe runloop_timer_set_name(timer, Self.nameOfSleep.text, 0)
        if result == 0 { result = unsafe runloop_add_timer(loop, timer, runloop__name_of_common_modes()) }
        if result != 0 { fail(result) }
        unsafe runloop_timer_release(timer)
    }

    /// By its address, the timers of delayed jobs are known.
    private static let nameOfSleep: StaticString = "a task's sleep"

    /// On the loop's thread.
    private func addDelayed(_ job: UnsafeMutableRawPointer?) {
        delayedJobs.subtract(1, ordering: .relaxed)
        if let job = unsafe job { unsafe add(JobLink(job)) }
    }

    /// Adds the delayed job of a timer now. `false` for another timer. On the loop's thread.
    func endSleep(_ timer: OpaquePointer) -> Bool {
        if unsafe runloop_timer_get_name(timer, nil) != Self.nameOfSleep.text { return false }
        let job = unsafe runloop_timer_get_info(timer)
        unsafe runloop_timer_invalidate(timer)
        unsafe addDelayed(job)
        return true
    }

    private func add(_ job: JobLink) {
        checkProcess()
        var newest = inbox.load(ordering: .relaxed)
        var isAdded = false
        repeat {
            job.next = newest
            (isAdded, newest) = inbox.weakCompareExchange(
                expected: newest, desired: UInt(bitPattern: job.words), ordering: .sequentiallyConsistent)
        } while !isAdded
        if !isPosted.load(ordering: .sequentiallyConsistent) { post() }
        running.reportToOthers()
        if !isServed.load(ordering: .sequentiallyConsistent) { whenNobodyRuns?() }
    }

    /// The process ends; if it does in a job that has kept others waiting, that is reported.
    func reportAtExit() {
        if !isOnThread || process.isOver { return }
        let now = runloop_get_now_ns(nil)
        if hasJobs || untilDelayedJob == 0 { running.report(at: now) }
    }

    /// On the loop's thread.
    var hasJobs: Bool { !bands.isEmpty || inbox.load(ordering: .sequentiallyConsistent) != 0 }

    /// The time until a delayed job needs the loop at the earliest, in nanoseconds, or `nil` if there is none. On the loop's thread.
    var untilDelayedJob: Int64? {
        if delayedJobs.load(ordering: .relaxed) == 0 { return nil }
        let date = unsafe runloop_next_fire_date(loop, runloop__name_of_default_mode())
        return unsafe date == .max ? nil : max(0, date - runloop_get_now_ns(loop))
    }

    private func checkProcess() {
        precondition(!process.isOver, "A task needs the main loop of the parent, and this is a forked child.")
    }

    private func post() {
        if isPosted.exchange(true, ordering: .sequentiallyConsistent) { return }
        let result = unsafe runloop_post(
            loop, runloop__name_of_common_modes(), { _ in MainLoopJobs.shared.runBatch() }, nil,
            { _ in MainLoopJobs.shared.runRest() })
        // The ending thread takes no posts any more, and runs the jobs when nothing else is left of the loop.
        if result != 0 && end.notify({ MainLoopJobs.shared.runRest() }) == nil { fail(result) }
    }

    private func fail(_ result: Int32) -> Never {
        preconditionFailure("A task needs the main run loop: \(RunLoop.Error(result: result))")
    }

    //===-- running ----------------------------------------------------------------------------------------------===//

    private func runBatch() {
        FoundationInJobs.observation
        isPosted.store(false, ordering: .sequentiallyConsistent)
        // The machine's time, whatever the loop's is: it bounds the use of the processor.
        var now = runloop_get_now_ns(nil)
        let end = now + Self.batchDuration
        for _ in 0..<Self.batchLimit {
            guard let job = takeNext() else { return }
            running.begins(job, at: now)
            run(job)
            // A job may have forked, and the child returns from it. The other jobs are the parent's.
            if process.isOver { return }
            now = runloop_get_now_ns(nil)
            running.ends(at: now)
            if now >= end { break }
        }
        if !bands.isEmpty { post() }
    }

    /// The thread is ending: runs the remaining jobs, and those which they add.
    private func runRest() {
        repeat {
            while let job = takeNext() {
                run(job)
                if process.isOver { return }
            }
            isPosted.store(false, ordering: .sequentiallyConsistent)
        } while inbox.load(ordering: .sequentiallyConsistent) != 0
    }

    /// When the program is loaded: runs what there is.
    ///
    /// - Returns: which executors were given jobs.
    package func runProbes() -> Set<Executor> {
        var executors: Set<Executor> = []
        while let job = takeNext() {
            executors.insert(job.executor)
            run(job)
        }
        return executors
    }

    /// Is a job being executed? On the loop's thread.
    var isInJob: Bool { activeJobs > 0 }

    private func run(_ job: JobLink) {
        activeJobs += 1
        defer { activeJobs -= 1 }
        let listed = TaskList.shared.begin(job)
        defer { if let listed { TaskList.shared.end(listed) } }
        switch job.executor {
        case .main: unsafe job.job.runSynchronously(on: MainLoopExecutor.shared.asUnownedSerialExecutor())
        case .byDefault:
            guard let defaultExecutor = unsafe defaultExecutor else {
                preconditionFailure("A job has no executor.")
            }
            unsafe job.job.runSynchronously(on: defaultExecutor)
        }
    }

    private func takeNext() -> JobLink? {
        takeInbox()
        return bands.takeNext()
    }

    /// Moves the inbox to the bands, turned round.
    private func takeInbox() {
        // Not relaxed: it must not be read before `isPosted` is cleared.
        if inbox.load(ordering: .sequentiallyConsistent) == 0 { return }
        var newest = JobLink(bits: inbox.exchange(0, ordering: .sequentiallyConsistent))
        var oldest: UInt = 0
        while let job = newest {
            newest = JobLink(bits: job.next)
            job.next = oldest
            oldest = UInt(bitPattern: job.words)
        }
        var older = JobLink(bits: oldest)
        while let job = older {
            older = JobLink(bits: job.next)
            bands.append(job)
        }
    }

    //===-- runs -------------------------------------------------------------------------------------------------===//

    /// Is a run of a common mode active? On the loop's thread.
    var isRunning: Bool { activeRuns > 0 }

    /// An iteration of a hosted run that nobody counts while its host sleeps.
    func serve(_ iterate: () -> Void) {
        enterRun()
        iterate()
        leaveRun()
    }

    private func enterRun() {
        activeRuns += 1
        isServed.store(true, ordering: .sequentiallyConsistent)
    }

    /// The run goes on, and its host, which is to be woken by what comes, sleeps. Or it is over.
    func leaveRun() {
        // A mode that became common in the middle of a run has an end without a beginning.
        activeRuns = max(0, activeRuns - 1)
        if activeRuns == 0 { isServed.store(false, ordering: .sequentiallyConsistent) }
    }

    private func runEnds() {
        leaveRun()
        if !isRunning { whenRunsHaveEnded?() }
    }

    /// What was posted before may be hidden from the run.
    private func runBegins() {
        // A run that is nested in a job serves the others.
        running.leaves()
        enterRun()
        takeInbox()
        // A post whose jobs a batch took before it counts as well: the next job relies on it.
        if bands.isEmpty && !isPosted.load(ordering: .sequentiallyConsistent) { return }
        isPosted.store(false, ordering: .sequentiallyConsistent)
        post()
    }
}

#endif
#endif
