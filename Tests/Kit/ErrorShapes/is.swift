// The type without its value.
import RunLoopKit
import RunLoopKitLinux

func isType(_ items: [RunLoop.Item]) throws {
    do { try RunLoop.current.add(items[0], forMode: .default) } catch is RunLoop.Error { print("refused") }
    for item in items { item.invalidate() }
}
