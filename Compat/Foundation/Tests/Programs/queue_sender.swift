// A sender that is an object is known by its identity, whatever its class. Foundation on Linux knows only its own objects, and
// merges nothing of another's; nor does it merge what equal values send.
import Foundation

final class Sender: Sendable {}
let sender = Sender()
let other = Sender()
let center = NotificationCenter()
nonisolated(unsafe) let queue = NotificationQueue(notificationCenter: center)
nonisolated(unsafe) var log: [String] = []
let token = center.addObserver(forName: nil, object: nil, queue: nil) { log.append("\($0.userInfo!["n"]!)") }
func enqueue(_ object: Any, _ text: String) {
    queue.enqueue(Notification(name: .init("name"), object: object, userInfo: ["n": text]), postingStyle: .asap)
}
enqueue(sender, "first")
enqueue(other, "of another")
enqueue(sender, "second")
enqueue("value", "first of a value")
enqueue(5, "of another value")
enqueue("value", "second of a value")
RunLoop.current.run(mode: .default, before: Date() + 0.005)
print(log)
