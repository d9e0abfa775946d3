// A condition, in a loop with an asynchronous call.
import RunLoopKit
import RunLoopKitLinux

func asyncWhere(_ writer: RunLoop.Writer, _ lines: AsyncStream<String>) async throws {
    for await line in lines {
        do {
            try await writer.write(line)
        } catch let error as RunLoop.Error where error == .brokenPipe || error == .connectionReset {
            return
        }
    }
}
