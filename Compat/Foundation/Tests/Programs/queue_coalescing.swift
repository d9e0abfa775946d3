// A queue merges what says the same, by name, by sender, or both; `now` posts at once.
import Foundation

// Objects that are objects of Foundation: see queue_sender.swift.
let sender = Thread {}
let other = Thread {}
let center = NotificationCenter()
nonisolated(unsafe) let queue = NotificationQueue(notificationCenter: center)
nonisolated(unsafe) var log: [String] = []
let token = center.addObserver(forName: nil, object: nil, queue: nil) { note in
    log.append("\(note.name.rawValue)\(note.userInfo?["n"] ?? "")")
}
func note(_ name: String, _ object: Any?, _ number: Int) -> Notification {
    Notification(name: Notification.Name(name), object: object, userInfo: ["n": number])
}
func runOnce(_ what: String) {
    RunLoop.current.run(mode: .default, before: Date() + 0.005)
    print(what, log.sorted())
    log = []
}

for n in 1...3 { queue.enqueue(note("a", sender, n), postingStyle: .asap) }
print("not yet:", log)
runOnce("by name and sender:")
for n in 1...3 { queue.enqueue(note("a", n == 2 ? other : sender, n), postingStyle: .asap) }
runOnce("two senders:")
for n in 1...3 {
    queue.enqueue(note("b", n == 2 ? other : sender, n), postingStyle: .asap, coalesceMask: .onName, forModes: nil)
}
runOnce("by name:")
for n in 1...3 {
    queue.enqueue(note("c\(n)-", sender, n), postingStyle: .asap, coalesceMask: .onSender, forModes: nil)
}
runOnce("by sender:")
for n in 1...3 { queue.enqueue(note("d", sender, n), postingStyle: .asap, coalesceMask: [], forModes: nil) }
runOnce("not at all:")
queue.enqueue(note("e", sender, 1), postingStyle: .asap)
queue.enqueue(note("e", sender, 2), postingStyle: .now)
print("now, in place of the other:", log)
runOnce("nothing left:")
queue.enqueue(note("f", sender, 1), postingStyle: .asap)
queue.enqueue(note("g", sender, 1), postingStyle: .asap)
queue.dequeueNotifications(matching: note("f", sender, 0), coalesceMask: [.onName, .onSender])
runOnce("dequeued:")
print(NotificationQueue.default === NotificationQueue.default, NotificationQueue.default === queue)
center.removeObserver(token)
