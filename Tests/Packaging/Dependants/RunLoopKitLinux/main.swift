import Glibc
import RunLoopKit
import RunLoopKitLinux

// A signal, and the lines of a pipe.
nonisolated(unsafe) var signals = 0
let source = try RunLoop.Source(signal: SIGUSR1) { signals += $0.count }
try RunLoop.main.add(source, forMode: .common)
raise(SIGUSR1)

var ends: [CInt] = [0, 0]
precondition(pipe(&ends) == 0)
write(ends[1], "one\ntwo\n", 8)
close(ends[1])
let input = ends[0]
nonisolated(unsafe) var lines: [String] = []
Task {
    for try await line in RunLoop.main.lines(of: input) { lines.append(line) }
    RunLoop.main.stop()
}
precondition(RunLoop.main.run(mode: .default, for: .seconds(60)) == .stopped)
precondition(lines == ["one", "two"] && signals == 1, "\(lines), \(signals) signals")
