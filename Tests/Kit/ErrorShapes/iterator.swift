// With an iterator.
import RunLoopKit
import RunLoopKitLinux

func iterator(_ reader: sending RunLoop.Reader) async throws {
    var lines = reader.lines(limit: 80).makeAsyncIterator()
    while true {
        do {
            guard let line = try await lines.next(isolation: #isolation) else { return }
            print(line)
        } catch RunLoop.Error.lineTooLong {
            continue
        }
    }
}
