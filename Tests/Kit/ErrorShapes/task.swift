// In a task.
import RunLoopKit
import RunLoopKitLinux

func task(_ connections: [RunLoop.Connection]) {
    Task {
        do { try await connections[0].writer.flush() } catch RunLoop.Error.brokenPipe { return }
        for connection in connections { try await connection.close() }
    }
}
