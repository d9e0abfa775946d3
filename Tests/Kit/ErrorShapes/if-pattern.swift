// A condition with the pattern operator.
import RunLoopKit
import RunLoopKitLinux

func ifPattern(_ sources: [RunLoop.Source]) throws {
    for source in sources {
        do {
            try source.watch(for: .read)
        } catch {
            if RunLoop.Error.invalid ~= error { continue }
            if case RunLoop.Error.badDescriptor = error { continue }
            throw error
        }
    }
}
