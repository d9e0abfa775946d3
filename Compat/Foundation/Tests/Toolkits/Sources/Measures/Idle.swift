import Foundation
import RunLoopKit

import class RunLoopKit.RunLoop

/// How often the kernel has woken threads of this process while it had nothing to do.
enum Idle {
    static func measure() async {
        let seconds = 3
        // From a thread of its own, since asking on the main thread wakes it.
        let (main, others) = try! await RunLoop.runBlocking {
            let before = wakeUps()
            sleep(CUnsignedInt(seconds))
            let after = wakeUps()
            let others = after.others.merging(before.others) { now, then in now - then }
            // Those of this thread don't count.
            let this = try! FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            return (after.main - before.main, others.filter { !this.hasSuffix("/\($0.key)") }.values.reduce(0, +))
        }
        print("wake-ups \(main) \(others)")
    }

    private static func wakeUps() -> (main: Int, others: [pid_t: Int]) {
        var main = 0
        var others: [pid_t: Int] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? [] {
            let status = (try? String(contentsOfFile: "/proc/self/task/\(name)/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
            guard let line, let thread = pid_t(name), let count = Int(line.split(separator: "\t").last!) else {
                continue
            }
            if thread == getpid() { main = count } else { others[thread] = count }
        }
        return (main, others)
    }
}
