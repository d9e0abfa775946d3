// When the styles post: `asap` before the loop sleeps or at the end of a run, `now` at once or never.
import Foundation

let center = NotificationCenter()
nonisolated(unsafe) let queue = NotificationQueue(notificationCenter: center)
nonisolated(unsafe) var log: [String] = []
let token = center.addObserver(forName: nil, object: nil, queue: nil) { note in
    log.append("\(note.name.rawValue) in \(RunLoop.current.currentMode?.rawValue ?? "no mode")")
}
func enqueue(_ name: String, _ style: NotificationQueue.PostingStyle, _ modes: [RunLoop.Mode]? = nil) {
    queue.enqueue(Notification(name: .init(name)), postingStyle: style, coalesceMask: [], forModes: modes)
}
func show(_ what: String) {
    print(what, log)
    log = []
}

enqueue("now", .now)
show("no run:")
enqueue("asap", .asap)
RunLoop.current.run(mode: .default, before: .distantPast)
show("a run that does not wait:")
enqueue("asap", .asap)
RunLoop.current.run(mode: .default, before: Date() + 0.005)
show("a run that waits:")

let timer = Timer(fire: Date(), interval: 0, repeats: false) { _ in
    enqueue("from a timer", .asap)
    enqueue("at once", .now)
    enqueue("in another mode", .now, [RunLoop.Mode("other")])
    log.append("timer ends")
}
RunLoop.current.add(timer, forMode: .default)
RunLoop.current.run(mode: .default, before: Date() + 0.01)
show("from a timer:")

let other = RunLoop.Mode("another")
RunLoop.current.add(Timer(fire: Date(), interval: 0, repeats: false) { _ in }, forMode: other)
enqueue("default only", .asap)
RunLoop.current.run(mode: other, before: Date() + 0.005)
show("in another mode:")
RunLoop.current.run(mode: .default, before: Date() + 0.005)
show("in its own:")
