// With something deferred.
import RunLoopKit
import RunLoopKitLinux

func deferred(_ loops: [RunLoop]) throws {
    let source = RunLoop.Source {}
    defer { source.invalidate() }
    do { try loops[0].add(source, forMode: .default) } catch RunLoop.Error.loopFinished { return }
    for loop in loops { source.signal(waking: loop) }
}
