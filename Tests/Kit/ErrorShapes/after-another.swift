// Statements after each other.
import RunLoopKit
import RunLoopKitLinux

func afterAnother(_ timers: [RunLoop.Timer]) throws {
    do { _ = try RunLoop.Thread() } catch RunLoop.Error.tooManyThreads { return }
    do { _ = try RunLoop.KeepAlive(on: .current) } catch RunLoop.Error.loopFinished { return }
    for timer in timers { timer.invalidate() }
    do { _ = try RunLoop.Counter(on: .current) { _ in } } catch RunLoop.Error.tooManyDescriptors { return }
}
