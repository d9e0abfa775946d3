import RunLoopKit

let source = RunLoop.Source { RunLoop.current.stop() }
try RunLoop.current.add(source, forMode: .default)
source.signal()
precondition(RunLoop.current.run(mode: .default, for: .seconds(60)) == .stopped)
print("StrictMemory")
