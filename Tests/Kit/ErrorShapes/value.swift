// A constant that is initialized in the statement.
import RunLoopKit
import RunLoopKitLinux

func value(_ items: [RunLoop.Item]) throws {
    let thread: RunLoop.Thread?
    do { thread = try RunLoop.Thread(name: "value") } catch RunLoop.Error.tooManyThreads { thread = nil }
    for item in items { try thread?.loop.add(item, forMode: .default) }
}
