// A program that knows nothing of RunLoopKit, and prints on which threads its tasks and its main actor were.

import Glibc

actor Log {
    private var threads: Set<pthread_t> = []
    func note() { threads.insert(pthread_self()) }
    var count: Int { threads.count }
}

@MainActor func isOnInitialThread() -> Bool {
    var path = [CChar](repeating: 0, count: 64)
    let length = readlink("/proc/thread-self", &path, path.count)
    return String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self).hasSuffix("/\(getpid())")
}

@main struct Program {
    static func main() async throws {
        let log = Log()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    await log.note()
                    try? await Task.sleep(for: .milliseconds(number % 10))
                    await log.note()
                }
            }
        }
        await log.note()
        print("one thread: \(await log.count == 1)")
        print("main actor on the initial thread: \(await isOnInitialThread())")
    }
}
