// Statements of a program that awaits.
import RunLoopKit
import RunLoopKitLinux

do {
    for try await line in RunLoop.main.lines(of: 0, limit: 80) { print(line) }
} catch RunLoop.Error.lineTooLong {
    print("too long")
}
for try await chunk in RunLoop.main.chunks(of: 0) {
    do {
        try await RunLoop.Writer(borrowing: 1, on: .main).write(chunk)
    } catch let error as RunLoop.Error where error == .brokenPipe {
        break
    }
}
