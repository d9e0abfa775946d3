import Evolution
import RunLoopKit

let engine = Engine(on: .main)
try engine.start(RunLoop.Timer(every: .milliseconds(1)) { _ in engine.stop() })
precondition(RunLoop.main.run(mode: .default, for: .seconds(60)) == .stopped)
print("EvolutionProgram")
