// fire() calls the block on the spot, beside the schedule.
import Foundation

nonisolated(unsafe) var calls = 0
nonisolated(unsafe) let often = Timer(fire: Date() + 1000, interval: 1000, repeats: true) { timer in
    calls += 1
    if calls == 1 { timer.fire() }
}
let before = often.fireDate
often.fire()
print("calls:", calls, "schedule untouched:", often.fireDate == before, "valid:", often.isValid)
RunLoop.current.add(often, forMode: .default)
often.fire()
print("calls in a loop:", calls, "schedule untouched:", abs(often.fireDate.timeIntervalSince(before)) < 0.001)
often.invalidate()
often.fire()
print("calls when invalid:", calls)

nonisolated(unsafe) let once = Timer(fire: Date() + 1000, interval: 5, repeats: false) { _ in print("once") }
print("interval of a timer that fires once:", once.timeInterval)
once.fire()
print("valid:", once.isValid)
let other = Thread {
    once.fire()
    often.fire()
    print("nothing on another thread either")
}
nonisolated(unsafe) let thread = other
thread.start()
while !thread.isFinished { Thread.sleep(forTimeInterval: 0.001) }
