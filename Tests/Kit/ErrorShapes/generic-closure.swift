// In a generic function around a closure whose error has a type.
import RunLoopKit
import RunLoopKitLinux

func genericClosure<Failure: Error>(_ loops: [RunLoop], _ body: (RunLoop) throws(Failure) -> Void) throws {
    for loop in loops {
        do {
            try body(loop)
            try loop.add(RunLoop.Source {}, forMode: .default)
        } catch RunLoop.Error.loopFinished {
            continue
        }
    }
}
