// A constant, then the rest, in a function that does not throw.
import RunLoopKit
import RunLoopKitLinux

func constantThenAll(_ sources: [RunLoop.Source]) {
    for source in sources {
        do {
            try source.watch(for: [.read, .write])
        } catch RunLoop.Error.badDescriptor {
            source.invalidate()
        } catch {
            print(error)
        }
    }
}
