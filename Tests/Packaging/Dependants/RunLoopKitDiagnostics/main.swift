import RunLoopKit
import RunLoopKitDiagnostics

let loop = RunLoop.current
loop.startStatistics()
loop.startRecording()
let timer = RunLoop.Timer(after: .milliseconds(1)) { _ in loop.stop() }
timer.name = "blink"
try loop.add(timer, forMode: .default)
precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
precondition(loop.statistics?.callouts[.timer] == 1 && loop.report().contains("1 of timer"))
precondition(RunLoop.trace(of: [loop]).contains("timer blink"))
