// limitDate(forMode:) makes a pass that does not wait, and returns when the next timer is due.
import Foundation

nonisolated(unsafe) var log: [String] = []
let loop = RunLoop.current
let mode = RunLoop.Mode("mode")
print("unknown mode:", loop.limitDate(forMode: mode) as Any)
print("no timers:", loop.limitDate(forMode: .default) == .distantFuture)

let late = Timer(fire: Date() + 500, interval: 0, repeats: false) { _ in }
let later = Timer(fire: Date() + 700, interval: 0, repeats: false) { _ in }
loop.add(later, forMode: mode)
loop.add(late, forMode: mode)
let date = loop.limitDate(forMode: mode)!
print("the earliest:", abs(date.timeIntervalSince(late.fireDate)) < 0.01)

let due = Timer(fire: Date(), interval: 0, repeats: false) { _ in log.append("due timer") }
loop.add(due, forMode: mode)
loop.perform(inModes: [mode]) { log.append("block") }
usleep(2000)
print("one more:", loop.limitDate(forMode: mode)! > Date() + 100, log, due.isValid)
late.invalidate()
print("then the other:", abs(loop.limitDate(forMode: mode)!.timeIntervalSince(later.fireDate)) < 0.01)
later.invalidate()
print("nothing left:", loop.limitDate(forMode: mode) as Any)

let start = Date()
loop.acceptInput(forMode: "mode", before: start + 100)
print("accepts nothing in an empty mode:", Date() < start + 50)
