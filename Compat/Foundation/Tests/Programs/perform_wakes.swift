// A block that another thread sends to a sleeping loop is performed without waiting for something else.
// In Foundation on Linux the loop sleeps on.
import Foundation

nonisolated(unsafe) var performedAt: Date?
let loop = RunLoop.main
nonisolated(unsafe) let main = loop
let limit = Date() + 1
Thread.detachNewThread {
    Thread.sleep(forTimeInterval: 0.05)
    main.perform { performedAt = Date() }
}
while Date() < limit && performedAt == nil { loop.run(mode: .default, before: limit) }
let keepAlive = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { _ in }
while keepAlive.isValid { loop.run(mode: .default, before: Date() + 0.1) }
print("performed while it was waiting:", performedAt.map { $0 < limit - 0.05 } ?? false)
