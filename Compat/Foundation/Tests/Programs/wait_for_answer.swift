// The idiom of programs that wait: run until a condition holds, or until it is too late.
import Foundation

final class Request: @unchecked Sendable {
    private let lock = DispatchQueue(label: "request")
    private var text: String?
    var answer: String? { lock.sync { text } }

    func begin(after delay: TimeInterval, _ text: String?) {
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) {
            self.lock.sync { self.text = text }
            DispatchQueue.main.async {}
        }
    }

    func wait(_ seconds: TimeInterval) -> String {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while answer == nil && Date() < deadline {
            RunLoop.current.run(mode: .default, before: deadline)
        }
        return answer ?? "too late"
    }
}

let quick = Request()
quick.begin(after: 0.02, "an answer")
print(quick.wait(10))
let slow = Request()
slow.begin(after: 0.01, nil)
print(slow.wait(0.05))

// A program's heart: a timer that ends it.
nonisolated(unsafe) var beats = 0
nonisolated(unsafe) var shouldRun = true
let heart = Timer.scheduledTimer(withTimeInterval: 0.003, repeats: true) { _ in
    beats += 1
    if beats == 4 {
        shouldRun = false
        DispatchQueue.main.async {}
    }
}
while shouldRun && RunLoop.current.run(mode: .default, before: .distantFuture) {}
heart.invalidate()
print("beats:", beats)
