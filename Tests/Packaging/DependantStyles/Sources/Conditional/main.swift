#if os(Linux)
import RunLoopKit

RunLoop.main.perform { RunLoop.main.stop() }
precondition(RunLoop.main.run(mode: .default, for: .seconds(60)) == .stopped)
print("Conditional")
#else
print("elsewhere")
#endif
