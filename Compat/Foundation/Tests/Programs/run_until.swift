// run(until:) makes passes until its date, at least one, and returns at once when nothing can happen.
import Foundation

nonisolated(unsafe) var ticks = 0
let thread = Thread {
    let loop = RunLoop.current
    let start = Date()
    loop.run(until: Date() + 100)
    loop.run()
    print("an empty loop returns at once:", Date() < start + 50)

    let timer = Timer.scheduledTimer(withTimeInterval: 0.005, repeats: true) { _ in ticks += 1 }
    let end = Date() + 0.1
    loop.run(until: end)
    print("not before the date:", Date() >= end, "ticks:", ticks > 1)
    timer.invalidate()

    loop.perform { print("a block") }
    loop.run(until: .distantPast)
    print("one pass for a date in the past")

    Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in print("the last timer") }
    loop.run(until: .distantFuture)
    print("until nothing is left")
    Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in print("the last timer again") }
    loop.run()
    print("run() too")
}
nonisolated(unsafe) let worker = thread
worker.start()
while !worker.isFinished { Thread.sleep(forTimeInterval: 0.002) }
