// The type and a condition, as where types of errors were not known.
import RunLoopKit
import RunLoopKitLinux

func asWhere(_ items: [RunLoop.Item]) throws {
    for item in items {
        do {
            try RunLoop.current.add(item, forMode: .default)
        } catch let error as RunLoop.Error where error == .inAnotherLoop || error.subject == nil {
            print(error)
        }
    }
}
