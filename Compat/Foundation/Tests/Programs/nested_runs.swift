// A call-out may run the loop again, in the same mode or another; a timer is not called inside its own call.
import Foundation

nonisolated(unsafe) var depth = 0
nonisolated(unsafe) var log: [String] = []
let loop = RunLoop.current
let inner = RunLoop.Mode("inner")

let outer = Timer(fire: Date(), interval: 0.002, repeats: true) { timer in
    depth += 1
    log.append("outer at depth \(depth) in \(RunLoop.current.currentMode!.rawValue)")
    RunLoop.current.run(mode: .default, before: Date() + 0.01)
    RunLoop.current.run(mode: RunLoop.Mode("inner"), before: Date() + 0.01)
    log.append("back in \(RunLoop.current.currentMode!.rawValue)")
    depth -= 1
    timer.invalidate()
}
let other = Timer(fire: Date() + 0.004, interval: 0, repeats: false) { _ in log.append("other at depth \(depth)") }
let deep = Timer(fire: Date(), interval: 0, repeats: false) { _ in
    log.append("deep at depth \(depth) in \(RunLoop.current.currentMode!.rawValue)")
}
loop.add(outer, forMode: .default)
loop.add(other, forMode: .default)
loop.add(deep, forMode: inner)
while outer.isValid { loop.run(mode: .default, before: Date() + 1) }
for line in log { print(line) }

log = []
loop.perform {
    log.append("block")
    RunLoop.current.perform { log.append("block of the block") }
    RunLoop.current.run(mode: .default, before: Date())
    log.append("end of the block")
}
_ = loop.run(mode: .default, before: Date() + 0.005)
print(log)
