// A timer that fires once: valid in its block, invalid afterwards, and the loop has nothing left.
import Foundation

let start = Date()
let timer = Timer.scheduledTimer(withTimeInterval: 0.02, repeats: false) { timer in
    print("fired, valid:", timer.isValid, "interval:", timer.timeInterval)
}
print("scheduled, valid:", timer.isValid, "user info:", timer.userInfo as Any)
while timer.isValid && RunLoop.current.run(mode: .default, before: Date() + 0.2) {}
print("afterwards, valid:", timer.isValid, "not early:", Date().timeIntervalSince(start) >= 0.02)
timer.fire()
timer.invalidate()
print("fired by hand and invalidated once more: nothing")

let never = Timer(timeInterval: 0.01, repeats: false) { _ in print("must not happen") }
never.invalidate()
RunLoop.current.add(never, forMode: .default)
RunLoop.current.run(until: Date() + 0.03)
print("an invalid timer is not added")
