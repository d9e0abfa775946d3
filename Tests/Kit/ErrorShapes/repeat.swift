// A loop with its condition at the end, which a clause leaves.
import RunLoopKit
import RunLoopKitLinux

func repeated(_ source: RunLoop.Source) throws {
    var count = 0
    all: repeat {
        do { try source.watch(for: count % 2 == 0 ? .read : .write) } catch RunLoop.Error.invalid { break all }
        count += 1
    } while count < 10
}
