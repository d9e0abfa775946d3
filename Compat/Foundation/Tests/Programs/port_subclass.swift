// A subclass of Port is notified by loops when they begin and cease to watch it, once for each mode, until it is invalid.
import Foundation

nonisolated(unsafe) var log: [String] = []
final class Probe: Port {
    private var valid = true
    override var isValid: Bool { valid }
    override func invalidate() {
        if !valid { return }
        valid = false
        NotificationCenter.default.post(name: Port.didBecomeInvalidNotification, object: self)
    }
    override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        log.append("schedule \(runLoop === RunLoop.current) \(mode.rawValue)")
    }
    override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        log.append("remove \(runLoop === RunLoop.current) \(mode.rawValue)")
    }
    deinit { log.append("freed") }
}
func show(_ what: String) {
    print(what, log)
    log = []
}
func usePort() {
    let port = Probe()
    let loop = RunLoop.current
    let mode = RunLoop.Mode("mode")
    loop.add(port, forMode: mode)
    loop.add(port, forMode: mode)
    loop.add(port, forMode: .common)
    show("added:")
    loop.remove(port, forMode: .default)
    loop.remove(port, forMode: mode)
    loop.remove(port, forMode: mode)
    show("removed from one:")
    port.invalidate()
    port.invalidate()
    loop.remove(port, forMode: .common)
    show("invalid:")
}
print(Port.didBecomeInvalidNotification.rawValue)
usePort()
show("afterwards:")
func keepPort() { RunLoop.current.add(Probe(), forMode: .default) }
keepPort()
show("kept by the loop:")
