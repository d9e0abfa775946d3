// A constant with a condition.
import RunLoopKit
import RunLoopKitLinux

func constantWhere(_ items: [RunLoop.Item], mayFail: Bool) throws {
    for item in items {
        do { try RunLoop.current.add(item, forMode: .default) } catch RunLoop.Error.invalid where mayFail { continue }
    }
}
