// All caught, and most thrown again.
import RunLoopKit
import RunLoopKitLinux

func guarded(_ sources: [RunLoop.Source]) throws {
    for source in sources {
        do {
            try source.watch(for: .read)
        } catch {
            guard let error = error as? RunLoop.Error, error == .invalid else { throw error }
            print(error)
        }
    }
}
