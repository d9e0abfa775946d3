// In a closure that throws.
import RunLoopKit
import RunLoopKitLinux

func closure(_ items: [RunLoop.Item]) throws -> [Bool] {
    try items.map { item in
        do {
            for mode in [RunLoop.Mode.default, .common] { try RunLoop.current.add(item, forMode: mode) }
            return true
        } catch RunLoop.Error.inAnotherLoop {
            return false
        }
    }
}
