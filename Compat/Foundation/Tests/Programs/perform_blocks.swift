// Blocks run once, in order, in the modes that they name.
import Foundation

nonisolated(unsafe) var log: [String] = []
nonisolated(unsafe) let loop = RunLoop.current
let special = RunLoop.Mode("special")
func runOnce(_ mode: RunLoop.Mode) {
    _ = loop.run(mode: mode, before: Date() + 0.005)
    print(mode.rawValue, log)
    log = []
}

loop.perform { log.append("one") }
loop.perform(inModes: [special]) { log.append("two, special") }
loop.perform(inModes: [.default, special]) { log.append("three, both") }
loop.perform(inModes: [.common]) { log.append("four, common") }
loop.perform(inModes: []) { log.append("never") }
loop.perform {
    log.append("five")
    loop.perform { log.append("seven, from five") }
}
loop.perform { log.append("six") }
runOnce(.default)
runOnce(.default)
runOnce(special)
runOnce(special)

final class Guest: Sendable { deinit { print("a block is freed when it has run") } }
func bring() {
    let guest = Guest()
    loop.perform { withExtendedLifetime(guest) {} }
}
bring()
runOnce(.default)
