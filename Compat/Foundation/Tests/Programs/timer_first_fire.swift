// Apple: "After ti seconds have elapsed, the timer fires". Foundation on Linux fires at once.
import Foundation

let start = Date()
nonisolated(unsafe) var fired: Date?
let timer = Timer(timeInterval: 0.05, repeats: true) { timer in
    fired = Date()
    timer.invalidate()
}
print("fires first after its interval:", timer.fireDate >= start + 0.049)
RunLoop.current.add(timer, forMode: .default)
while timer.isValid && RunLoop.current.run(mode: .default, before: Date() + 1) {}
print("fired:", fired != nil, "not before the interval:", fired.map { $0 >= start + 0.049 } ?? false)
