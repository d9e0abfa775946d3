// In the loop over a sequence that throws.
import RunLoopKit
import RunLoopKitLinux

func inSequence(_ listener: RunLoop.Listener) async throws {
    for try await connection in listener.connections {
        do { try await connection.writer.write("hello\n") } catch RunLoop.Error.brokenPipe { continue }
        try await connection.close()
    }
}
