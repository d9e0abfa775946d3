// A notification for a mode of one's own is posted in that mode, one for `.common` in every common mode. Foundation on Linux
// posts neither.
import Foundation

let center = NotificationCenter()
nonisolated(unsafe) let queue = NotificationQueue(notificationCenter: center)
nonisolated(unsafe) var log: [String] = []
let token = center.addObserver(forName: nil, object: nil, queue: nil) { log.append($0.name.rawValue) }
let mode = RunLoop.Mode("of its own")
RunLoop.current.add(Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }, forMode: mode)
func enqueue(_ name: String, _ style: NotificationQueue.PostingStyle, _ modes: [RunLoop.Mode]) {
    queue.enqueue(Notification(name: .init(name)), postingStyle: style, coalesceMask: [], forModes: modes)
}
enqueue("own", .asap, [mode])
enqueue("own idle", .whenIdle, [mode])
enqueue("common", .asap, [.common])
let end = Date() + 2
while log.count < 2 && Date() < end { RunLoop.current.run(mode: mode, before: Date() + 0.05) }
print("in its mode:", log)
log = []
RunLoop.current.run(mode: .default, before: Date() + 0.005)
print("in a common mode:", log)
