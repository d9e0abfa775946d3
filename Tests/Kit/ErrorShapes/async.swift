// In an asynchronous function, and a loop after it.
import RunLoopKit
import RunLoopKitLinux

func async(_ connection: RunLoop.Connection, _ lines: [String]) async throws {
    do { try await connection.writer.write("hello\n") } catch RunLoop.Error.timedOut { return }
    for line in lines { try await connection.writer.write(line) }
}
