import Dispatch
import ForkedChild
import Glibc
import RunLoopKit
@_spi(ExperimentalCustomExecutors) import _Concurrency

/// Each case checks one property of a program in which all tasks run on the main loop; RunLoopKitTests runs them, each in a process.
@main struct Program {
    static func main() async throws {
        let name = CommandLine.arguments.dropFirst().first ?? ""
        guard let body = cases[name] else { preconditionFailure("There is no case '\(name)'.") }
        try await body()
        check(isOnInitialThread, "main is on the initial thread")
        print("\(name): done")
    }

    private static let cases: [String: @MainActor () async throws -> Void] = [
        "threads": threads, "order": order, "priorities": priorities, "sleeps": sleeps, "cancellation": cancellation,
        "fairness": fairness, "flood": flood, "long": longJobs, "nested": nested, "others": otherThreads,
        "isolation": isolation, "blocking": blocking, "memory": memory, "fork": fork, "stop": stop,
        "virtual": virtualTime, "virtual-end": endOfVirtualTime, "blocks": blocks, "tasks": taskList,
        "tasks-races": taskListRaces,
    ]
}

func check(_ condition: Bool, _ sentence: String) {
    if condition { return }
    print("Not true: \(sentence)")
    exit(1)
}

/// Reads the thread from the kernel, not from the loop.
var isOnInitialThread: Bool { syscallGettid() == getpid() }

@_silgen_name("gettid")
private func syscallGettid() -> pid_t

func threadCount() -> Int {
    guard let folder = opendir("/proc/self/task") else { return -1 }
    defer { closedir(folder) }
    var count = -2  // . and ..
    while readdir(folder) != nil { count += 1 }
    return count
}
