// A queue: first in, first out. Foundation on Linux posts what was enqueued together in reverse.
import Foundation

let center = NotificationCenter()
let one = NotificationQueue(notificationCenter: center)
let two = NotificationQueue(notificationCenter: center)
nonisolated(unsafe) var log: [String] = []
let token = center.addObserver(forName: nil, object: nil, queue: nil) { log.append($0.name.rawValue) }
for n in 1...3 {
    one.enqueue(Notification(name: .init("one \(n)")), postingStyle: .asap)
    two.enqueue(Notification(name: .init("two \(n)")), postingStyle: .asap)
}
RunLoop.current.run(mode: .default, before: Date() + 0.005)
print("asap:", log)
log = []
for n in 1...3 { one.enqueue(Notification(name: .init("idle \(n)")), postingStyle: .whenIdle) }
one.enqueue(Notification(name: .init("asap")), postingStyle: .asap)
let end = Date() + 10
while log.count < 4 && Date() < end { RunLoop.current.run(mode: .default, before: Date() + 0.05) }
print("idle:", log)
