import Dispatch
import ForkedChild
import Glibc
import RunLoopKit
@_spi(ExperimentalCustomExecutors) import _Concurrency

/// Jobs from other threads, which the loop's sleep does not delay; and threads of RunLoopKit beside it.
@MainActor func otherThreads() async throws {
    for number in 0..<200 {
        let answer = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: number) }
        }
        check(answer == number && isOnInitialThread, "a task that another thread resumes is on the initial one")
    }
    let thread = try RunLoop.Thread()
    let tasks = (0..<1000).map { number in
        Task(executorPreference: thread.loop.taskExecutor) {
            check(!isOnInitialThread, "a task that prefers another loop is on that loop's thread")
            await Task.yield()
            return await MainActor.run {
                check(isOnInitialThread, "the main actor is on the initial thread")
                return number
            }
        }
    }
    var sum = 0
    for task in tasks { sum += await task.value }
    check(sum == 499_500, "all tasks of two threads have run")
    thread.stop()
    await thread.join()
    // Several threads add jobs at the same time.
    let arrivals = Arrivals(expected: 20_000)
    await withCheckedContinuation { continuation in
        arrivals.whenComplete = continuation
        for _ in 0..<4 {
            DispatchQueue.global().async {
                for _ in 0..<5000 { Task { @MainActor in arrivals.note() } }
            }
        }
    }
}

@MainActor private final class Arrivals {
    private var left: Int
    var whenComplete: CheckedContinuation<Void, Never>?

    init(expected: Int) { left = expected }

    func note() {
        left -= 1
        if left == 0 { whenComplete?.resume() }
    }
}

private actor Named {
    nonisolated func assumed() -> Bool {
        assumeIsolated { _ in true }
    }
    func inside() -> Bool { assumed() }
}

@MainActor func isolation() async throws {
    check(MainActor.executor.isIsolatingCurrentContext() == true, "the main executor knows its thread")
    MainActor.preconditionIsolated()
    check(await Named().inside(), "an actor is isolated in its own methods")
    await Task.detached { MainActor.executor.checkIsolated() }.value
    await withCheckedContinuation { continuation in
        RunLoop.main.perform {
            MainActor.assumeIsolated { continuation.resume() }
        }
    }
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            check(MainActor.executor.isIsolatingCurrentContext() == false, "another thread is not isolated")
            continuation.resume()
        }
    }
}

@MainActor func blocking() async throws {
    var ticks = 0
    let timer = RunLoop.Timer(every: .milliseconds(1), RunLoop.onMainActor { _ in ticks += 1 })
    try RunLoop.main.add(timer, forMode: .common)
    let gate = DispatchSemaphore(value: 0)
    async let answer = RunLoop.runBlocking {
        check(!isOnInitialThread, "what blocks is on another thread")
        gate.wait()
        return 42
    }
    while ticks < 5 { await Task.yield() }
    gate.signal()
    check(try await answer == 42 && isOnInitialThread, "the answer of what blocked arrives on the initial thread")
    struct Failure: Error {}
    do {
        try await RunLoop.runBlocking { throw Failure() }
        check(false, "an error arrives")
    } catch { check(error is Failure, "the error is that of the closure") }
    timer.invalidate()
    // The thread sanitizer has one of its own by now.
    while threadCount() > (isUnderThreadSanitizer ? 2 : 1) { await Task.yield() }
}

/// A forked child has no main loop of its parent's: a task in it is an error with a sentence, which the parent does not notice.
@MainActor func fork() async throws {
    var isDone = false
    let before = Task { isDone = true }
    let quiet = statusOfChild {}
    check(quiet == 0, "a child that starts no task ends as it likes, not with \(quiet)")
    let status = statusOfChild {
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO)
        Task {}
        // It is not silently ignored.
        _exit(0)
    }
    let signal = status & 0x7f
    check(signal == SIGILL || signal == SIGTRAP, "a task in a child is an error, not status \(status)")
    await before.value
    check(isDone, "the parent goes on")
    try await Task.sleep(for: .milliseconds(1))
    // A child that returns from the job that has forked does not run the parent's other jobs, such as this one. A fork that takes longer than
    // a batch of jobs may ends the batch in any case, so this is tried several times.
    for _ in 0..<20 {
        var child: pid_t = -1
        Task {
            child = forkProcess()
            if child == 0 { ualarm(30_000, 0) }
        }
        while child == -1 { await Task.yield() }
        if child == 0 { _exit(42) }
        var end: CInt = 0
        let isEnded = waitpid(child, &end, 0) == child
        check(isEnded && end == SIGALRM, "the child runs no other job; it has ended with \(end)")
    }
}
