// In a closure that a source calls.
import RunLoopKit
import RunLoopKitLinux

func callback(_ items: [RunLoop.Item]) throws -> RunLoop.Source {
    RunLoop.Source {
        for item in items {
            do {
                try RunLoop.current.add(item, forMode: .default)
            } catch RunLoop.Error.invalid {
                continue
            } catch {
                print(error)
            }
        }
    }
}
