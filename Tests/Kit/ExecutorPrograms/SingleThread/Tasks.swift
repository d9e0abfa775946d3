import Dispatch
import RunLoopKit
import RunLoopKitDiagnostics

/// The list of tasks in reports: what each awaits, where, and that nothing is left of those that have ended.
@MainActor func taskList() async throws {
    check(!RunLoop.listsTasks && !RunLoop.main.report().contains("tasks:"), "nothing is listed that nobody wants")
    RunLoop.listsTasks = true
    check(RunLoop.listsTasks, "tasks are listed")
    let answer = Answer()
    let waiting = Task { await waitForAnswer(answer) }
    let others: [Task<Void, Never>] = [
        Task { await waiting.value },
        Task { _ = try? await Task.sleep(for: .seconds(1000)) },
        Task { _ = try? await RunLoop.main.clock.sleep(for: .seconds(1000)) },
        Task {
            await withTaskGroup { group in
                group.addTask { await waitForAnswer(answer) }
                await group.waitForAll()
            }
        },
    ]
    for _ in 0..<10 { await Task.yield() }

    let lines = taskLines()
    let one = lines.first { $0.contains("awaits a continuation in waitForAnswer, SingleThread/Tasks.swift:") }
    check(one != nil, "a task awaits a continuation, in a function of the program's: \(lines)")
    let number = one?.split(separator: " ")[1] ?? "?"
    let whole = lines.filter { $0.contains("taskList, SingleThread/Tasks.swift:") }
    check(whole.contains { $0.contains("awaits task \(number) in closure #") }, "one awaits that task: \(lines)")
    check(whole.contains { $0.contains("awaits its task group in") }, "one awaits its group: \(lines)")
    check(whole.count { $0.contains("awaits a continuation in closure #") } == 2, "two sleep: \(lines)")
    check(whole.contains { $0.contains("runs in") }, "this one runs: \(lines)")
    let json = RunLoop.main.report(.json)
    check(json.contains("\"tasks\":[\"task "), "the list is in JSON: \(json)")

    for other in others { other.cancel() }
    answer.give()
    for other in others { await other.value }
    check(taskLines().count == 1, "what has ended isn't listed: \(taskLines())")
    RunLoop.listsTasks = false
    check(!RunLoop.main.report().contains("tasks:"), "nothing is listed any more")
    await freeTasks()
    try await freeTasksOfOthers()
}

/// Resumed by other threads, on other executors, while others make reports and the list is begun and ended.
@MainActor func taskListRaces() async throws {
    let thread = try RunLoop.Thread()
    let reporter = DispatchQueue(label: "reports")
    let isOver = Flag()
    reporter.async {
        var reports = 0
        while !isOver.isSet || reports < 20 {
            _ = RunLoop.main.report(reports % 2 == 0 ? .text : .json)
            if reports % 7 == 0 { RunLoop.listsTasks.toggle() }
            reports += 1
        }
    }
    RunLoop.listsTasks = true
    await withTaskGroup { group in
        for number in 0..<200 {
            group.addTask {
                for _ in 0..<50 {
                    let back = await withCheckedContinuation { continuation in
                        DispatchQueue.global().async { continuation.resume(returning: number) }
                    }
                    check(back == number, "each gets its answer")
                    await hop(to: thread.loop)
                }
            }
        }
    }
    isOver.set()
    reporter.sync {}
    RunLoop.listsTasks = true
    await Task.yield()
    check(taskLines().count <= 1, "what has ended isn't listed: \(taskLines())")
    RunLoop.listsTasks = false
    thread.stop()
    await thread.join()
}

private func hop(to loop: RunLoop) async {
    await withTaskExecutorPreference(loop.taskExecutor) {
        await Task.yield()
        await withCheckedContinuation { continuation in DispatchQueue.global().async { continuation.resume() } }
    }
}

/// A task that nobody wants any more is freed when it has ended, however often it was listed.
@MainActor private func freeTasks() async {
    RunLoop.listsTasks = true
    weak var freed: Answer?
    do {
        let object = Answer()
        freed = object
        let task = Task {
            await Task.yield()
            withExtendedLifetime(object) {}
        }
        await task.value
    }
    for _ in 0..<3 { await Task.yield() }
    check(freed == nil, "the list keeps no task that has ended")
    RunLoop.listsTasks = false
}

/// So is one that ended elsewhere, though nobody asks for a report: of these at most some thousand are kept.
@MainActor private func freeTasksOfOthers() async throws {
    RunLoop.listsTasks = true
    let thread = try RunLoop.Thread()
    let left = Protected(0)
    for _ in 0..<5000 {
        let task = Task(executorPreference: thread.loop.taskExecutor) {
            await MainActor.run {}
            return Result(left)
        }
        _ = await task.value
    }
    let kept = left.change { $0 }
    check(kept < 2500, "the list keeps \(kept) of 5000 tasks that have ended on another executor")
    RunLoop.listsTasks = false
    check(left.change { $0 } < 5, "a list that is over keeps none")
    thread.stop()
    await thread.join()
}

/// Of a task, which keeps it as long as the task is there.
private final class Result: Sendable {
    private let left: Protected<Int>

    init(_ left: Protected<Int>) {
        self.left = left
        left.change { $0 += 1 }
    }

    deinit { left.change { $0 -= 1 } }
}

private func waitForAnswer(_ answer: Answer) async {
    await withCheckedContinuation { answer.whenGiven($0) }
}

private func taskLines() -> [Substring] {
    let report = RunLoop.main.report().split(separator: "\n")
    guard let start = report.firstIndex(of: "  tasks:") else { return [] }
    return Array(report[(start + 1)...].prefix { $0.hasPrefix("    task ") })
}

private final class Answer: Sendable {
    private let waiting = Protected<[CheckedContinuation<Void, Never>]>([])

    func whenGiven(_ continuation: CheckedContinuation<Void, Never>) { waiting.change { $0.append(continuation) } }
    func give() { waiting.change { waiting in while let one = waiting.popLast() { one.resume() } } }
}

private final class Flag: Sendable {
    private let value = Protected(false)

    var isSet: Bool { value.change { $0 } }
    func set() { value.change { $0 = true } }
}

private final class Protected<Value: Sendable>: @unchecked Sendable {
    private var value: Value
    private let queue = DispatchQueue(label: "value")

    init(_ value: Value) { self.value = value }

    func change<Result>(_ body: (inout Value) -> Result) -> Result { queue.sync { body(&value) } }
}
