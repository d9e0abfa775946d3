// The whole program: a timer of one millisecond, and the end.
import RunLoopKit

let timer = RunLoop.Timer(after: .milliseconds(1)) { _ in RunLoop.main.stop() }
try RunLoop.main.add(timer, forMode: .default)
RunLoop.main.run()
