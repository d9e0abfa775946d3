import Dispatch
import Glibc
import RunLoopKit

private actor Numbers {
    private(set) var all: [Int] = []
    func add(_ number: Int) {
        check(isOnInitialThread, "an actor is on the initial thread")
        all.append(number)
    }
}

@MainActor func threads() async throws {
    let numbers = Numbers()
    check(threadCount() == 1, "a program begins with one thread")
    await withTaskGroup(of: Void.self) { group in
        for number in 0..<1000 {
            group.addTask {
                check(isOnInitialThread, "a task of a group is on the initial thread")
                try? await Task.sleep(for: .microseconds(number))
                await numbers.add(number)
            }
        }
    }
    await Task.detached { check(isOnInitialThread, "a detached task is on the initial thread") }.value
    check(await numbers.all.count == 1000, "all tasks have run")
    check(threadCount() == 1, "there is still one thread, and not \(threadCount())")
}

@MainActor func order() async throws {
    var seen: [Int] = []
    let tasks = (0..<1000).map { number in Task { seen.append(number) } }
    for task in tasks { await task.value }
    check(seen == Array(0..<1000), "tasks of the main actor begin in order")
    let numbers = Numbers()
    let calls = (0..<1000).map { number in Task.detached { await numbers.add(number) } }
    for call in calls { await call.value }
    check(await numbers.all == Array(0..<1000), "detached tasks begin in order")
}

@MainActor func priorities() async throws {
    var seen: [TaskPriority] = []
    let low = (0..<200).map { _ in Task(priority: .background) { seen.append(.background) } }
    let medium = (0..<200).map { _ in Task(priority: .medium) { seen.append(.medium) } }
    let high = (0..<200).map { _ in Task(priority: .high) { seen.append(.high) } }
    await Task.yield()
    while seen.count < 600 { await Task.yield() }
    // One job in 32 is of the lowest band.
    check(seen[..<190].count { $0 == .high } >= 180, "high priority goes first: \(seen)")
    check(seen[..<190].contains(.background), "the lowest priority does not starve")
    check(seen[210..<380].count { $0 == .medium } >= 160, "medium priority goes second: \(seen)")
    for task in low + medium + high { await task.value }
}

@MainActor private final class Seen {
    var all: Set<String> = []
}

/// A run inside a job serves the other jobs, of every executor, and the main queue.
@MainActor func nested() async throws {
    let seen = Seen()
    Task { seen.all.insert("main actor") }
    Task.detached { await MainActor.run { _ = seen.all.insert("detached") } }
    Task {
        try? await Task.sleep(for: .milliseconds(1))
        seen.all.insert("sleep")
    }
    DispatchQueue.main.async { MainActor.assumeIsolated { _ = seen.all.insert("main queue") } }
    check(runMainLoop { seen.all.count == 4 }, "a nested run serves all, not only \(seen.all)")
    // The job has been posted in the drain that performs the closure, so the run inside may not perform that post.
    RunLoop.main.perform {
        MainActor.assumeIsolated {
            if runMainLoop(until: { seen.all.contains("job") }) { seen.all.insert("closure") }
        }
    }
    Task { seen.all.insert("job") }
    while !seen.all.contains("closure") { await Task.yield() }
    // A batch runs a job before its post, which comes after the closure, in the same drain. The job of the run inside needs another.
    await withCheckedContinuation { (end: CheckedContinuation<Void, Never>) in
        @Sendable func nest() {
            RunLoop.main.perform { Task { @MainActor in seen.all.insert("added inside") } }
            MainActor.assumeIsolated { check(runMainLoop { seen.all.contains("added inside") }, "it runs inside") }
            end.resume()
        }
        // In a closure, so that no earlier post is left.
        RunLoop.main.perform {
            Task { @MainActor in
                RunLoop.main.perform { nest() }
                Task { seen.all.insert("of the batch") }
            }
        }
    }
    check(seen.all.contains("of the batch"), "the batch takes what its jobs add")
}

@MainActor private func runMainLoop(until condition: () -> Bool) -> Bool {
    RunLoop.main.run(until: condition, deadline: .now + .seconds(60))
}

/// A stop of the loop ends nested runs only.
@MainActor func stop() async throws {
    RunLoop.main.perform { RunLoop.main.stop() }
    try await Task.sleep(for: .milliseconds(2))
    RunLoop.main.stop()
    await Task.yield()
    try await Task.sleep(for: .milliseconds(2))
}
