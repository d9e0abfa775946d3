// Beside an error that is not ours.
import RunLoopKit
import RunLoopKitLinux

func sleep(_ connection: RunLoop.Connection) async throws {
    for text in ["1", "2"] {
        do {
            try await Task.sleep(for: .seconds(1))
            try await connection.writer.write(text)
        } catch RunLoop.Error.timedOut {
            return
        } catch is CancellationError {
            break
        }
    }
}
