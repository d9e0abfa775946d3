// Apple: run loops keep strong references to their timers, and an invalid timer releases what it was given.
// In Foundation on Linux no timer is ever freed.
import Foundation

final class Payload: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
    deinit { print("freed:", name) }
}

func makeTimers() {
    let payloads = ["never added", "fired once", "invalidated"].map(Payload.init)
    _ = Timer(timeInterval: 60, repeats: true) { [payload = payloads[0]] _ in print(payload.name) }
    Timer.scheduledTimer(withTimeInterval: 0.2, repeats: false) { [payload = payloads[1]] _ in
        print("fires:", payload.name)
    }
    let timer = Timer.scheduledTimer(withTimeInterval: 60, repeats: true) { [payload = payloads[2]] _ in
        print(payload.name)
    }
    weak let kept = timer
    RunLoop.current.perform {}
    RunLoop.current.run(mode: .default, before: Date())
    print("the loop keeps its timer:", kept != nil)
    timer.invalidate()
}

makeTimers()
RunLoop.current.run(until: Date() + 0.5)
print("end")
