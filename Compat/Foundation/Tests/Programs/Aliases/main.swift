// Written for Foundation, and not changed: the rest of Foundation stays in use.
import Foundation

let timer = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: true) { $0.invalidate() }
timer.tolerance = 0.001
while timer.isValid && RunLoop.current.run(mode: .default, before: Date() + 0.05) {}
print(String(format: "tolerance %.3f, module %@", timer.tolerance, String(reflecting: type(of: timer))))
