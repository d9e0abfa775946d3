// In methods of an actor.
import RunLoopKit
import RunLoopKitLinux

actor Station {
    private var timers: [RunLoop.Timer] = []

    func measure(_ loop: RunLoop) throws {
        for timer in timers {
            do { try loop.add(timer, forMode: .default) } catch RunLoop.Error.loopFinished { timers = [] }
        }
    }

    func say(_ writer: RunLoop.Writer) async throws {
        for timer in timers {
            do {
                try await writer.write("\(timer.isValid)\n")
            } catch RunLoop.Error.brokenPipe, RunLoop.Error.connectionReset {
                return
            }
        }
    }
}
