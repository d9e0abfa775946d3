#if canImport(RunLoopKit)
import RunLoopKit

RunLoop.main.perform { RunLoop.main.stop() }
precondition(RunLoop.main.run(mode: .default, for: .seconds(60)) == .stopped)
print("Conditional")
#else
#error("Here is Linux, so the product is there.")
#endif
