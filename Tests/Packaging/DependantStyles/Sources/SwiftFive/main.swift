import RunLoopKit

var ticks = 0
let timer = RunLoop.Timer(every: .milliseconds(1)) { _ in
    ticks += 1
    if ticks == 3 { RunLoop.current.stop() }
}
try RunLoop.current.add(timer, forMode: .common)
precondition(RunLoop.current.run(mode: .default, for: .seconds(60)) == .stopped)
print("SwiftFive")
