// In the tasks of a group.
import RunLoopKit
import RunLoopKitLinux

func taskGroup(_ connections: [RunLoop.Connection]) async throws {
    try await withThrowingTaskGroup(of: Int.self) { group in
        for connection in connections {
            group.addTask {
                var written = 0
                for text in ["a", "b"] {
                    do { written += try await connection.writer.write(text) } catch RunLoop.Error.connectionReset {
                        break
                    }
                }
                return written
            }
        }
        do { for try await written in group { print(written) } } catch RunLoop.Error.timedOut { group.cancelAll() }
    }
}
