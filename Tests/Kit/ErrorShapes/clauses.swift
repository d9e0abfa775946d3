// A clause for each of several constants.
import RunLoopKit
import RunLoopKitLinux

func clauses(_ items: [RunLoop.Item]) throws -> Int {
    var refused = 0
    for item in items {
        do {
            try RunLoop.current.add(item, forMode: .default)
        } catch RunLoop.Error.badDescriptor {
            refused += 1
        } catch RunLoop.Error.permissionDenied {
            refused += 10
        }
    }
    return refused
}
