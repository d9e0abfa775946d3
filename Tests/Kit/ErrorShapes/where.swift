// A condition alone.
import RunLoopKit
import RunLoopKitLinux

func whereAlone(_ items: [RunLoop.Item]) throws {
    do {
        try RunLoop.current.add(items[0], forMode: .default)
    } catch  where (error as? RunLoop.Error)?.errorNumber == 22 {
        print(error)
    }
    for item in items { item.invalidate() }
}
