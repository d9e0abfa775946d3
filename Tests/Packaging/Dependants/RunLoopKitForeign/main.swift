import RunLoopKit
import RunLoopKitForeign

final class Guest: RunLoop.ForeignSource.Guest {
    func prepare(_ wait: inout RunLoop.ForeignSource.Wait) { wait.deadline = .now }
    func dispatch() { RunLoop.current.stop() }
}

try RunLoop.current.add(try RunLoop.ForeignSource(Guest()), forMode: "guests")
precondition(RunLoop.current.run(mode: "guests") == .stopped)
