// An observer may enqueue. Foundation on Linux ends the program.
import Foundation

let center = NotificationCenter()
nonisolated(unsafe) let queue = NotificationQueue(notificationCenter: center)
nonisolated(unsafe) var log: [String] = []
let token = center.addObserver(forName: nil, object: nil, queue: nil) { note in
    log.append(note.name.rawValue)
    if log.count < 4 { queue.enqueue(Notification(name: .init("\(note.name.rawValue)'")), postingStyle: .asap) }
    if log.count == 4 { queue.enqueue(Notification(name: .init("idle")), postingStyle: .whenIdle) }
}
let start = Date()
queue.enqueue(Notification(name: .init("a")), postingStyle: .asap)
queue.enqueue(Notification(name: .init("b")), postingStyle: .asap)
while log.count < 6 && Date() < start + 10 { RunLoop.current.run(mode: .default, before: Date() + 0.05) }
print(log)
