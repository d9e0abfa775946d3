// Apple: "If the timer is no longer valid, [fireDate] returns the last date at which the timer fired".
// Foundation on Linux answers 2001-01-01.
import Foundation

let date = Date() + 0.01
let timer = Timer(fire: date, interval: 0, repeats: false) { _ in }
RunLoop.current.add(timer, forMode: .default)
while timer.isValid { RunLoop.current.run(mode: .default, before: Date() + 1) }
print("when it fired:", timer.fireDate == date)
let never = Timer(fire: date + 1000, interval: 1, repeats: true) { _ in }
never.invalidate()
print("when it would have fired:", never.fireDate == date + 1000)
