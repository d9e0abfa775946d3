// Timers belong to modes: each run serves those of its own.
import Foundation

nonisolated(unsafe) var log: [String] = []
nonisolated(unsafe) let loop = RunLoop.current
let tracking = RunLoop.Mode("tracking")
func timer(_ name: String, in modes: RunLoop.Mode...) {
    let timer = Timer(fire: Date(), interval: 0, repeats: false) { _ in
        log.append("\(name) in \(RunLoop.current.currentMode!.rawValue)")
    }
    for mode in modes { loop.add(timer, forMode: mode) }
    usleep(1000)
}
func runOnce(_ mode: RunLoop.Mode) {
    let ran = loop.run(mode: mode, before: Date() + 0.01)
    print(mode.rawValue, ran, log)
    log = []
}

timer("default", in: .default)
timer("tracking", in: tracking)
timer("both", in: .default, tracking)
timer("common", in: .common)
runOnce(tracking)
runOnce(.default)
runOnce(tracking)
runOnce(.default)

print(RunLoop.Mode.default.rawValue, RunLoop.Mode.common.rawValue)
print(RunLoop.Mode("kCFRunLoopDefaultMode") == .default, RunLoop.Mode(rawValue: "a") == RunLoop.Mode("a"))
print(Set([RunLoop.Mode.default, .common, .default]).count)
timer("by its name", in: RunLoop.Mode(rawValue: "kCFRunLoopDefaultMode"))
runOnce(.default)
