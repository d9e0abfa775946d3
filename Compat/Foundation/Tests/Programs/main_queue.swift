// The main loop serves the main dispatch queue and the main actor.
import Foundation

nonisolated(unsafe) var log: [String] = []
nonisolated(unsafe) var done = false
DispatchQueue.main.async { log.append("async: \(Thread.isMainThread)") }
DispatchQueue.global().async {
    DispatchQueue.main.sync { log.append("sync from a worker: \(Thread.isMainThread)") }
    DispatchQueue.main.asyncAfter(deadline: .now() + 0.01) {
        log.append("after a while")
        done = true
    }
}
while !done && RunLoop.main.run(mode: .default, before: Date() + 5) {}
for line in log { print(line) }

nonisolated(unsafe) var answer = 0
@MainActor func think() async { answer = Thread.isMainThread ? 42 : 0 }
Task { @MainActor in
    await think()
    await Task.yield()
    done = false
}
while done && RunLoop.main.run(mode: .default, before: Date() + 5) {}
print("main actor, on the main thread:", answer)

// Another mode that is not common does not serve it.
nonisolated(unsafe) var served = false
DispatchQueue.main.async { served = true }
let other = RunLoop.Mode("other")
let timer = Timer(fire: Date() + 0.01, interval: 0, repeats: false) { _ in }
RunLoop.main.add(timer, forMode: other)
while timer.isValid { _ = RunLoop.main.run(mode: other, before: Date() + 1) }
print("in another mode:", served)
RunLoop.main.run(until: Date() + 0.01)
print("in the default mode:", served)
