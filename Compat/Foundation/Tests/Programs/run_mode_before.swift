// run(mode:before:): what makes it return, and what it returns.
import Foundation

let loop = RunLoop.main
print("current mode outside:", loop.currentMode as Any)
print("unknown mode:", loop.run(mode: RunLoop.Mode("nobody"), before: Date() + 100))
print("common:", loop.run(mode: .common, before: Date() + 100))

var limit = Date() + 0.02
print("nothing happens:", loop.run(mode: .default, before: limit), Date() >= limit)
print("a past date:", loop.run(mode: .default, before: .distantPast))

// Timers do not end it, blocks neither; the main queue does.
nonisolated(unsafe) var log: [String] = []
Timer.scheduledTimer(withTimeInterval: 0.005, repeats: false) { _ in
    log.append("timer in \(RunLoop.current.currentMode!.rawValue)")
}
loop.perform { log.append("block") }
limit = Date() + 0.05
print("timer and block:", loop.run(mode: .default, before: limit), log, Date() >= limit)
DispatchQueue.main.async { log.append("main queue") }
limit = Date() + 100
print("main queue:", loop.run(mode: .default, before: limit), log.last!, Date() < limit)

let elsewhere = Thread {
    print("on another thread:", RunLoop.main.run(mode: .default, before: Date() + 100))
    print("and an own, empty one:", RunLoop.current.run(mode: .default, before: Date() + 100))
    RunLoop.main.run(until: Date() + 100)
    print("limit date elsewhere:", RunLoop.main.limitDate(forMode: .default) as Any)
    log.append("done")
}
elsewhere.start()
while log.last != "done" { usleep(1000) }
print("current mode afterwards:", loop.currentMode as Any)
