// With a variable that a closure captures.
import RunLoopKit
import RunLoopKitLinux

func captured(_ loop: RunLoop, _ items: [RunLoop.Item]) throws -> Int {
    var added = 0
    let count = { added += 1 }
    for item in items {
        do { try loop.add(item, forMode: .common) } catch let error as RunLoop.Error where error != .outOfMemory {
            continue
        }
        count()
    }
    return added
}
