// Around a sequence.
import RunLoopKit
import RunLoopKitLinux

func sequence(_ loop: RunLoop) async throws {
    do {
        for try await line in loop.lines(of: 0, limit: 80) { print(line) }
    } catch RunLoop.Error.lineTooLong {
        print("too long")
    }
    for try await chunk in loop.chunks(of: 0) { print(chunk.count) }
}
