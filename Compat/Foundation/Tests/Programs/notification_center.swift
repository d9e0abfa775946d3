// Observers of a center: by name, by sender, until they are removed. Foundation doesn't document in which order it notifies them.
import Foundation

extension Notification.Name {
    static let changed = Notification.Name("changed")
    static let saved = Notification.Name("saved")
}
let center = NotificationCenter()
let first = Thread {}
let second = Thread {}
nonisolated(unsafe) var told: [String] = []
func observe(_ label: String, _ name: Notification.Name?, _ object: Any?) -> NSObjectProtocol {
    center.addObserver(forName: name, object: object, queue: nil) { note in
        told.append("\(label) <- \(note.name.rawValue) \(note.userInfo?["by"] ?? "-")")
    }
}
func show(_ what: String) {
    print(what, told.sorted())
    told = []
}
var tokens: [NSObjectProtocol] = []
tokens.append(observe("all", nil, nil))
tokens.append(observe("changed", .changed, nil))
tokens.append(observe("changed, first", .changed, first))
tokens.append(observe("second", nil, second))

center.post(name: .changed, object: nil)
show("changed, no sender:")
center.post(name: .changed, object: first, userInfo: ["by": "user"])
show("changed, first:")
center.post(Notification(name: .saved, object: second))
show("saved, second:")
center.removeObserver(tokens[0])
center.post(name: .saved, object: second)
show("saved, second, without the observer of all:")
NotificationCenter.default.post(name: .saved, object: second)
show("at another center:")
for token in tokens { center.removeObserver(token) }
center.post(name: .changed, object: first)
show("nobody left:")
let a = Notification(name: .saved, object: first)
let b = Notification(name: .saved, object: second)
print(a == a, a == b, a.name == .saved, a.object as? Thread === first, Notification.Name("saved") == .saved)
