// A file that keeps Foundation, in a program with files that don't. It observes, posts and ends observations in each way.
import Foundation

final class Watcher {
    private let token: any NSObjectProtocol
    private let name = Notification.Name("kept")
    nonisolated(unsafe) private(set) static var count = 0

    init() {
        token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in Watcher.count += 1
        }
    }

    func post() {
        NotificationCenter.default.post(name: name, object: nil)
        NotificationCenter.default.post(name: .init("kept"), object: nil, userInfo: ["key": 1])
        NotificationCenter.default.post(Notification(name: name))
    }

    deinit {
        NotificationCenter.default.removeObserver(token, name: name, object: nil)
        NotificationCenter.default.removeObserver(token)
    }
}
