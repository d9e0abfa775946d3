// Apple: "If ti is less than or equal to 0.0, this method chooses the nonnegative value of 0.0001 seconds instead".
// Foundation on Linux fires such a timer once.
import Foundation

for interval in [0.0, -3] {
    nonisolated(unsafe) var ticks = 0
    let timer = Timer.scheduledTimer(withTimeInterval: interval, repeats: true) { timer in
        ticks += 1
        if ticks == 5 { timer.invalidate() }
    }
    print("interval:", timer.timeInterval)
    let end = Date() + 5
    while timer.isValid && Date() < end && RunLoop.current.run(mode: .default, before: end) {}
    print("ticks:", ticks)
}
