import Dispatch
import Glibc
import RunLoopKit
import RunLoopKitTesting

@MainActor func sleeps() async throws {
    // Later ones first, on both clocks. That they end in the order of their instants, virtual time shows.
    let tasks = [40, 30, 20, 10, 0].map { number in
        Task {
            let delay = Duration.milliseconds(number)
            let begin = ContinuousClock.now
            if number % 20 == 0 {
                try await Task.sleep(for: delay, tolerance: .milliseconds(1))
            } else {
                try await Task.sleep(until: .now + delay, clock: .suspending)
            }
            check(begin.duration(to: .now) >= delay, "a sleep does not end early")
        }
    }
    for task in tasks { try await task.value }
    // The sleeps are timers of the loop.
    let sleeper = Task { try await Task.sleep(for: .seconds(3600)) }
    while RunLoop.main.nextFireDate(inMode: .default) == nil { await Task.yield() }
    check(threadCount() == 1, "sleeps need no thread")
    sleeper.cancel()
    // Ten thousand at a time.
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<10_000 { group.addTask { try? await Task.sleep(for: .milliseconds(20)) } }
    }
    check(threadCount() == 1, "ten thousand sleeps need no thread")
    // Far ones do not overflow.
    let endless = Task { try await Task.sleep(for: .seconds(Int64.max / 4)) }
    await Task.yield()
    endless.cancel()
    try? await endless.value
}

/// The sleeps of all tasks are timers of the main loop, so they follow its virtual time.
@MainActor func virtualTime() async throws {
    let time = RunLoop.VirtualTime()
    let start = time.now
    let visits = await withTaskGroup(of: Duration.self) { group in
        for number in 0..<100 {
            group.addTask {
                try? await Task.sleep(for: .seconds(60 * number))
                return time.now - start
            }
        }
        var visits: [Duration] = []
        for await visit in group { visits.append(visit) }
        return visits
    }
    check(visits == (0..<100).map { .seconds(60 * $0) }, "each sleep ends at its instant: \(visits)")
}

/// A sleep that goes on when the virtual time ends, ends with it, and is no timer that anybody has left behind.
@MainActor func endOfVirtualTime() async throws {
    let time = RunLoop.VirtualTime()
    let sleeper = Task { try await Task.sleep(for: .seconds(3600)) }
    while RunLoop.main.nextFireDate(inMode: .default) == nil { await Task.yield() }
    try time.end()
    try await sleeper.value
}

@MainActor func cancellation() async throws {
    let tasks = (0..<1000).map { _ in
        Task.detached {
            do {
                try await Task.sleep(for: .seconds(3600))
                return false
            } catch { return error is CancellationError }
        }
    }
    await Task.yield()
    for task in tasks { task.cancel() }
    for task in tasks { check(await task.value, "a cancelled sleep throws CancellationError") }
    let early = Task.detached {
        while !Task.isCancelled { await Task.yield() }
        return (try? await Task.sleep(for: .seconds(3600))) == nil
    }
    early.cancel()
    check(await early.value, "a sleep that begins cancelled ends at once")
}

/// While a task yields for ever: a timer, a descriptor, a closure performed by another thread and the main queue get their turn.
@MainActor func fairness() async throws {
    var yields = 0
    let yielder = Task {
        while !Task.isCancelled {
            yields += 1
            await Task.yield()
        }
    }
    let others = Others()
    try others.add(count: { yields })
    while others.waited.count < 4 && yields < 1_000_000 { await Task.yield() }
    yielder.cancel()
    await yielder.value
    check(others.waited.count == 4, "a yielding task lets everything in, not only \(others.waited.keys)")
    others.remove()
}

/// Many jobs are there. What is due or ready waits for some of them only, in each band.
@MainActor func flood() async throws {
    var jobs = 0
    let others = Others()
    var isAdded = false
    let tasks = (0..<100_000).map { number in
        Task(priority: number % 2 == 0 ? .high : .low) {
            jobs += 1
            if !isAdded {
                isAdded = true
                try? others.add(count: { jobs })
            }
        }
    }
    for task in tasks { await task.value }
    check(jobs == 100_000, "every job runs once")
    for (name, waited) in others.waited {
        // There are three batches in an iteration, and an iteration serves the timers, a descriptor or the main queue.
        check(waited <= 4 * 3 * 256, "\(name) waits for \(waited) jobs")
    }
    check(others.waited.count == 4, "during a flood everything is let in, not only \(others.waited.keys)")
    others.remove()
}

/// Jobs that last longer than a batch may: what is due or ready waits for few of them.
@MainActor func longJobs() async throws {
    var jobs = 0
    let others = Others()
    let tasks = (0..<60).map { number in
        Task {
            let end = ContinuousClock.now + .milliseconds(2)
            while .now < end {}
            jobs += 1
            if number == 0 { try? others.add(count: { jobs }) }
        }
    }
    for task in tasks { await task.value }
    for (name, waited) in others.waited { check(waited <= 4 * 3, "\(name) waits for \(waited) long jobs") }
    check(others.waited.count == 4, "between long jobs everything is let in, not only \(others.waited.keys)")
    others.remove()
}

/// A job keeps the loop, or runs it in a nested run, for longer than the patience of 250 ms.
@MainActor func blocks() async throws {
    if CommandLine.arguments.contains("nested") {
        // The runtime runs main up to its first await itself.
        await Task.yield()
        let keepAlive = try RunLoop.KeepAlive(on: .main)
        runMainLoop(for: .milliseconds(300))
        await Task.yield()
        // Jobs that the nested run serves do not hide that it does.
        let others = Task { while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(20)) } }
        runMainLoop(for: .milliseconds(300))
        others.cancel()
        keepAlive.invalidate()
        await Task.yield()
    } else if CommandLine.arguments.contains("begun") {
        await keepTheLoopFromTheBeginning(for: .milliseconds(300))
    } else if CommandLine.arguments.contains("resumed") {
        // What it waits for is a call of the library, which resumes it.
        try await keepTheLoopAfterACall(for: .milliseconds(300))
    } else if CommandLine.arguments.contains("exits") {
        await exitAfter(.milliseconds(300))
    } else if CommandLine.arguments.contains("endless") {
        try await keepTheLoopForEver()
    } else if CommandLine.arguments.contains("computes") {
        await computeForEver()
    } else {
        await keepTheLoop(for: .milliseconds(300))
        await keepTheLoop(for: .milliseconds(300))
    }
}

@MainActor func keepTheLoopAfterACall(for duration: Duration) async throws {
    // The call may be over before it is waited for: then nothing resumes the task, and main would still be what the runtime runs itself.
    await Task.yield()
    let (thread, loop) = (try RunLoop.Thread(name: "other"), RunLoop.main)
    await thread.performAndWait { precondition(!loop.isCurrent) }
    let end = ContinuousClock.now + duration
    while .now < end {}
    await Task.yield()
}

@MainActor func exitAfter(_ duration: Duration) async {
    await Task.yield()
    Task {}
    let end = ContinuousClock.now + duration
    while .now < end {}
    print("blocks: done")
    exit(0)
}

/// Never returns; another thread, which has jobs for the loop meanwhile, ends the process.
@MainActor func keepTheLoopForEver() async throws {
    await Task.yield()
    let thread = try RunLoop.Thread(name: "other")
    thread.perform {
        let end = ContinuousClock.now + .milliseconds(400)
        while .now < end {
            usleep(20_000)
            Task { @MainActor in }
        }
        print("blocks: done")
        fflush(nil)
        _exit(0)
    }
    withExtendedLifetime(thread) { while true { usleep(20_000) } }
}

/// Allocates, and doesn't return before a sentence has been written. No other thread watches, since there is none, and no other process stays.
@MainActor func computeForEver() async {
    await Task.yield()
    var ends: [CInt] = [-1, -1]
    precondition(pipe(&ends) == 0 && dup2(ends[1], 2) == 2)
    var output = pollfd(fd: ends[0], events: CShort(POLLIN), revents: 0)
    var words: [String] = []
    let end = ContinuousClock.now + .seconds(120)
    while poll(&output, 1, 0) == 0 && .now < end {
        words = (0..<100).map { "a word that needs memory, \($0 + words.count)" }
    }
    check(poll(&output, 1, 0) == 1, "a sentence is written")
    check(threadCount() == 1, "the process has one thread")
    check(waitpid(-1, nil, 0) == -1 && errno == ECHILD, "no other process stays")
    var text = [UInt8](repeating: 0, count: 4096)
    let count = read(ends[0], &text, text.count)
    print(String(decoding: text.prefix(count), as: UTF8.self))
    // It is written once.
    await keepTheLoop(for: .milliseconds(600))
    check(poll(&output, 1, 0) == 0, "the sentence is written once")
}

@MainActor func keepTheLoop(for duration: Duration) async {
    await Task.yield()
    let end = ContinuousClock.now + duration
    while .now < end {}
    await Task.yield()
}

@MainActor func keepTheLoopFromTheBeginning(for duration: Duration) async {
    await Task {
        let end = ContinuousClock.now + duration
        while .now < end {}
    }.value
}

private func runMainLoop(for limit: Duration) { RunLoop.main.run(mode: .default, for: limit) }

/// What is due or ready at once, and how many jobs it waited for.
@MainActor private final class Others {
    private(set) var waited: [String: Int] = [:]
    private var source: RunLoop.Source?

    func add(count: @escaping @MainActor () -> Int) throws {
        let begin = count()
        let note: @MainActor @Sendable (String) -> Void = { name in
            if self.waited[name] == nil { self.waited[name] = count() - begin }
        }
        try RunLoop.main.add(RunLoop.Timer(after: .zero, RunLoop.onMainActor { _ in note("timer") }), forMode: .common)
        var ends: [CInt] = [0, 0]
        check(pipe(&ends) == 0 && write(ends[1], "x", 1) == 1, "there is a pipe")
        let source = try RunLoop.Source(fileDescriptor: ends[0], events: .read) { _ in
            MainActor.assumeIsolated { note("descriptor") }
        }
        try RunLoop.main.add(source, forMode: .common)
        self.source = source
        RunLoop.main.perform { MainActor.assumeIsolated { note("closure") } }
        DispatchQueue.main.async { MainActor.assumeIsolated { note("main queue") } }
    }

    func remove() { source?.invalidate() }
}
