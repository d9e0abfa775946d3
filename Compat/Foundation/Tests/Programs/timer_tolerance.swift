// Apple: a timer may fire up to its tolerance later, and the system limits it (half the interval of a repeating timer).
// Foundation on Linux ignores it, and reads back 0.
import Foundation

let once = Timer(timeInterval: 10, repeats: false) { _ in }
once.tolerance = 3
print("of a timer that fires once:", once.tolerance)
let often = Timer(timeInterval: 10, repeats: true) { _ in }
often.tolerance = 3
print("of a repeating one:", often.tolerance)
often.tolerance = 30
print("half the interval at most:", often.tolerance)
often.tolerance = -1
print("never negative:", often.tolerance)

// Two windows that overlap: one wake-up for both, at the end of the first.
nonisolated(unsafe) var fired: [String] = []
let start = Date()
let wide = Timer(fire: start + 0.02, interval: 0, repeats: false) { _ in fired.append("wide") }
wide.tolerance = 5
let exact = Timer(fire: start + 0.06, interval: 0, repeats: false) { _ in fired.append("exact") }
RunLoop.current.add(wide, forMode: .default)
RunLoop.current.add(exact, forMode: .default)
while wide.isValid { RunLoop.current.run(mode: .default, before: start + 0.5) }
print("together:", fired, "not before the second:", Date() >= start + 0.059)
