// A switch over what was caught.
import RunLoopKit
import RunLoopKitLinux

func switched(_ sources: [RunLoop.Source]) throws {
    for source in sources {
        do {
            try source.watch(for: .read)
        } catch {
            switch error {
            case RunLoop.Error.badDescriptor, RunLoop.Error.invalid: source.invalidate()
            case let error as RunLoop.Error where error.errorNumber == 12: return
            default: throw error
            }
        }
    }
}
