// Each thread has a loop of its own; timers and blocks run on the thread of theirs.
import Foundation

nonisolated(unsafe) var workerLoop: RunLoop?
nonisolated(unsafe) var done = false
nonisolated(unsafe) var log: [String] = []
let ready = DispatchSemaphore(value: 0)
print("main:", RunLoop.main === RunLoop.current, Thread.isMainThread, Thread.current === Thread.mainThread)

let worker = Thread {
    print("worker:", RunLoop.main === RunLoop.current, RunLoop.current === RunLoop.current, Thread.isMainThread)
    workerLoop = RunLoop.current
    let keepAlive = Timer.scheduledTimer(withTimeInterval: 0.002, repeats: true) { _ in }
    ready.signal()
    while !done {
        RunLoop.current.run(mode: .default, before: Date() + 1)
        if done { break }
    }
    keepAlive.invalidate()
    print("worker ends")
}
print("started:", worker.isExecuting, "finished:", worker.isFinished, "cancelled:", worker.isCancelled)
worker.start()
ready.wait()
let answered = DispatchSemaphore(value: 0)
print("not the main one:", workerLoop !== RunLoop.main)
workerLoop!.perform {
    log.append("on the worker: \(RunLoop.current === workerLoop!), main thread: \(Thread.isMainThread)")
    Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in
        log.append("timer on the worker: \(RunLoop.current === workerLoop!)")
        answered.signal()
    }
}
answered.wait()
for line in log { print(line) }
DispatchQueue.global().async {
    workerLoop!.add(
        Timer(fire: Date(), interval: 0, repeats: false) { _ in
            done = true
            DispatchQueue.main.async {}
        }, forMode: .default)
}
worker.cancel()
usleep(100_000)
done = true
workerLoop!.perform {}
Thread.detachNewThread { workerLoop!.perform {} }
let end = Date() + 10
while !worker.isFinished && Date() < end { RunLoop.main.run(mode: .default, before: Date() + 0.01) }
print("finished:", worker.isFinished, "cancelled:", worker.isCancelled)
