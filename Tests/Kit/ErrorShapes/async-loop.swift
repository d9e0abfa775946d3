// In a loop with an asynchronous call.
import RunLoopKit
import RunLoopKitLinux

func asyncLoop(_ reader: sending RunLoop.Reader) async throws -> Int {
    var count = 0
    while true {
        do {
            guard let line = try await reader.line(limit: 80) else { return count }
            count += line.utf8.count
        } catch RunLoop.Error.lineTooLong {
            try await reader.skipLine()
        }
    }
}
