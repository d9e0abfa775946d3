// A constant, then the type.
import RunLoopKit
import RunLoopKitLinux

func constantThenAs(_ sources: [RunLoop.Source]) throws {
    for source in sources {
        do {
            try source.watch(for: .write)
        } catch RunLoop.Error.badDescriptor {
            source.invalidate()
        } catch let error as RunLoop.Error {
            print(error.subject ?? "", error)
        }
    }
}
