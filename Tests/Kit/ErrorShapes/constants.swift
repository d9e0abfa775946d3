// Several constants in one clause.
import RunLoopKit
import RunLoopKitLinux

func constants(_ items: [RunLoop.Item]) throws {
    for item in items {
        do {
            try RunLoop.current.add(item, forMode: .common)
        } catch RunLoop.Error.loopFinished, RunLoop.Error.inheritedAcrossFork {
            return
        }
    }
}
