// Apple: "Port" makes a port, and a thread adds one to its loop in order to keep it running. Foundation on Linux ends the
// program in `Port()`.
import Foundation

nonisolated(unsafe) var log: [String] = []
final class LoggingPort: Port {
    override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        log.append("schedule \(mode.rawValue)")
        super.schedule(in: runLoop, forMode: mode)
    }
    override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        log.append("remove \(mode.rawValue)")
        super.remove(from: runLoop, forMode: mode)
    }
}
func show(_ what: String) {
    print(what, log)
    log = []
}

let thread = Thread {
    let loop = RunLoop.current
    let port = LoggingPort()
    loop.add(port, forMode: .default)
    loop.add(port, forMode: .default)
    loop.add(port, forMode: RunLoop.Mode("other"))
    show("added:")
    print("keeps the loop running:", loop.run(mode: .default, before: Date() + 0.01))
    loop.remove(port, forMode: .default)
    loop.remove(port, forMode: .default)
    show("removed:")
    print("no longer:", loop.run(mode: .default, before: Date() + 100))
    loop.add(port, forMode: .default)
    port.invalidate()
    print("invalid:", port.isValid, loop.run(mode: .default, before: Date() + 100))
    loop.remove(port, forMode: .default)
    loop.add(port, forMode: .default)
    show("forgotten:")
    loop.add(Port(), forMode: .default)
    loop.run(until: Date() + 0.01)
    print("a port that nobody else keeps:", loop.run(mode: .default, before: Date()))
}
nonisolated(unsafe) let worker = thread
worker.start()
while !worker.isFinished { usleep(1000) }
