// Connecting, with a constant and a cancellation.
import RunLoopKit
import RunLoopKitLinux

func connect(_ names: [String]) async throws -> RunLoop.Connection? {
    for name in names {
        do {
            return try await RunLoop.Connection.connect(to: .tcp(name, port: 80), within: .seconds(5), on: .main)
        } catch RunLoop.Error.connectionRefused, RunLoop.Error.nameNotFound {
            continue
        } catch is CancellationError {
            return nil
        }
    }
    return nil
}
