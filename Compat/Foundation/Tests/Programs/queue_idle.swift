// Apple: a notification with the idle style is posted "when the run loop is idle", waiting for its sources and timers.
// Foundation on Linux posts it at the start of the next pass, whatever there is to do.
import Foundation

let center = NotificationCenter()
nonisolated(unsafe) let queue = NotificationQueue(notificationCenter: center)
nonisolated(unsafe) var log: [String] = []
let token = center.addObserver(forName: nil, object: nil, queue: nil) { log.append($0.name.rawValue) }
nonisolated(unsafe) let loop = RunLoop.main

func runUntil(_ count: Int) {
    let end = Date() + 10
    while log.count < count && Date() < end { loop.run(until: Date() + 0.05) }
    print(log)
}

queue.enqueue(Notification(name: .init("idle")), postingStyle: .whenIdle)
for n in 1...2 {
    loop.add(
        Timer(fire: Date(), interval: 0, repeats: false) { _ in
            log.append("timer \(n)")
            loop.perform { log.append("block \(n)") }
        }, forMode: .default)
}
usleep(2000)
runUntil(5)

log = []
func again(_ n: Int) {
    log.append("work \(n)")
    if n < 3 { loop.perform { again(n + 1) } }
}
loop.perform {
    queue.enqueue(Notification(name: .init("idle")), postingStyle: .whenIdle)
    queue.enqueue(Notification(name: .init("asap")), postingStyle: .asap)
    again(1)
}
runUntil(5)
