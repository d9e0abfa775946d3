import Glibc
import RunLoopKit

/// An async main, and nothing to call: one thread.
@main struct Program {
    static func main() async throws {
        let counter = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(1))
                    await counter.count()
                }
            }
        }
        let count = await counter.value
        precondition(count == 100, "Only \(count) of 100 tasks have run.")
        precondition(threadCount() == 1, "There are \(threadCount()) threads.")
    }
}

private actor Counter {
    private(set) var value = 0
    func count() {
        precondition(isOnMainLoop(), "An actor is not on the main loop's thread.")
        value += 1
    }
}

private func isOnMainLoop() -> Bool { RunLoop.main.isCurrent }

private func threadCount() -> Int {
    guard let folder = opendir("/proc/self/task") else { return -1 }
    defer { closedir(folder) }
    var count = -2  // . and ..
    while readdir(folder) != nil { count += 1 }
    return count
}
