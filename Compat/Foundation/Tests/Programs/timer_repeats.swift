// A repeating timer keeps its grid: no tick is early, none is made up for, the phase stays.
import Foundation

nonisolated(unsafe) var ticks = 0
nonisolated(unsafe) var early = 0
nonisolated(unsafe) var offGrid = 0
let interval = 0.01
// Far enough off that a busy machine doesn't let it pass before the timer is added: Foundation would begin another grid then.
let first = Date() + 1
let timer = Timer(fire: first, interval: interval, repeats: true) { timer in
    ticks += 1
    if Date() < timer.fireDate - 0.001 { early += 1 }
    let steps = timer.fireDate.timeIntervalSince(first) / interval
    if abs(steps - steps.rounded()) > 0.05 { offGrid += 1 }
    // The third tick takes two and a half intervals: the ticks in between are skipped.
    if ticks == 3 { Thread.sleep(forTimeInterval: interval * 2.5) }
    if ticks == 6 { timer.invalidate() }
}
RunLoop.current.add(timer, forMode: .common)
while timer.isValid { RunLoop.current.run(mode: .default, before: Date() + 1) }
print("ticks:", ticks, "early:", early, "off the grid:", offGrid)
print("eight intervals at least:", Date().timeIntervalSince(first) >= interval * 7 - 0.001)
