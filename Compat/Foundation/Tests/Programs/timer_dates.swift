// Moving a timer: later, earlier, to the distant future and back, in its own block.
import Foundation

nonisolated(unsafe) var log: [String] = []
let loop = RunLoop.current
let late = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in log.append("late") }
loop.add(late, forMode: .default)
loop.run(until: Date() + 0.01)
print("parked:", log, late.isValid)
late.fireDate = Date(timeIntervalSinceReferenceDate: 0)
print("a past date reads back as given:", late.fireDate == Date(timeIntervalSinceReferenceDate: 0))
loop.run(until: Date() + 0.01)
print("moved to the past:", log, late.isValid)

nonisolated(unsafe) var ticks = 0
let often = Timer(fire: Date() + 0.01, interval: 1000, repeats: true) { timer in
    ticks += 1
    if ticks < 4 { timer.fireDate = Date() + 0.005 } else { timer.invalidate() }
}
loop.add(often, forMode: .default)
let date = Date() + 500
often.fireDate = date
print("reads back as given:", abs(often.fireDate.timeIntervalSince(date)) < 1e-6)
often.fireDate = Date()
while often.isValid { loop.run(mode: .default, before: Date() + 1) }
print("ticks by own dates:", ticks)

let first = Timer(fire: Date() + 0.02, interval: 0, repeats: false) { _ in log.append("second by date") }
let second = Timer(fire: Date() + 0.01, interval: 0, repeats: false) { _ in log.append("first by date") }
loop.add(first, forMode: .default)
loop.add(second, forMode: .default)
while first.isValid { loop.run(mode: .default, before: Date() + 1) }
print(log)
