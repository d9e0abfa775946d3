// The type.
import RunLoopKit
import RunLoopKitLinux

func asType(_ items: [RunLoop.Item]) throws {
    for item in items {
        do {
            try RunLoop.current.add(item, forMode: .default)
        } catch let error as RunLoop.Error {
            print(error.errorNumber)
        }
    }
}
