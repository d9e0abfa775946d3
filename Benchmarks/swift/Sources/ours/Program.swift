// Program.swift — W16 on RunLoopKit: everything on the main loop, in tasks of the main actor.

import Glibc
import RunLoopKit
import RunLoopKitLinux
import Work

@main
struct Program {
    @MainActor static func main() async throws {
        let (workload, count) = arguments()
        switch workload {
        case "lines": try await serve(lines)
        case "http": try await serve(http)
        case "chat": try await serve(Room().chat)
        case "timeouts": try timeouts(count)
        case "posts": await posts(count)
        case "children": try await children(count)
        default: fatalError("There is no workload \"\(workload)\".")
        }
    }
}

//===-- servers -----------------------------------------------------------------------------------------------------===//

typealias Service = @MainActor @Sendable (RunLoop.Connection) async throws -> Void

@MainActor func serve(_ service: @escaping Service) async throws {
    let listener = try RunLoop.Listener(.tcp(port: 0), on: .main)
    printPort(Int(listener.port ?? 0))
    for try await connection in listener.connections {
        Task {
            try? await service(connection)
            connection.abort()
        }
    }
}

@MainActor func lines(_ connection: RunLoop.Connection) async throws {
    let reader = connection.makeReader()
    for try await line in reader.lines() { try await connection.writer.write(line + "\n") }
}

@MainActor func http(_ connection: RunLoop.Connection) async throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: \(page.utf8.count)\r\n\r\n"
    let reader = connection.makeReader()
    while let request = try await reader.line(limit: 8192) {
        let words = request.split(separator: " ")
        guard words.count == 3, words[0] == "GET" else { return }
        var fields: [(name: Substring, value: Substring)] = []
        while let field = try await reader.line(limit: 8192), !field.isEmpty {
            guard let colon = field.firstIndex(of: ":") else { return }
            fields.append((field[..<colon], field[field.index(after: colon)...]))
        }
        try await connection.writer.write(head + page)
    }
}

@MainActor final class Room {
    private var members: [ObjectIdentifier: RunLoop.Writer] = [:]

    func chat(_ connection: RunLoop.Connection) async throws {
        let writer = connection.writer
        members[ObjectIdentifier(writer)] = writer
        defer { members[ObjectIdentifier(writer)] = nil }
        let reader = connection.makeReader()
        for try await line in reader.lines() {
            let text = line + "\n"
            for member in members.values { _ = try? member.enqueue(text) }
        }
    }
}

//===-- timeouts, posts, children -----------------------------------------------------------------------------------===//

@MainActor func timeouts(_ count: Int) throws {
    var random = Random()
    for _ in 0..<rounds {
        var timers: [RunLoop.Timer] = []
        timers.reserveCapacity(count)
        let created = try measured(count) {
            for _ in 0..<count {
                let timer = RunLoop.Timer(after: .milliseconds(random.far())) { _ in }
                try RunLoop.main.add(timer, forMode: .default)
                timers.append(timer)
            }
        }
        let moved = measured(count) {
            for _ in 0..<count {
                timers[random.next(below: count)].reschedule(after: .milliseconds(random.far()))
            }
        }
        let cancelled = measured(count) { for timer in timers { timer.invalidate() } }
        printFigures(["created": created, "moved": moved, "cancelled": cancelled])
    }
}

@MainActor func posts(_ count: Int) async {
    for _ in 0..<rounds {
        let start = Times()
        await withCheckedContinuation { continuation in
            inAThread {
                for _ in 1..<count { RunLoop.main.perform {} }
                RunLoop.main.perform { continuation.resume() }
            }
        }
        printFigures(start.perOperation(count))
    }
}

@MainActor func children(_ count: Int) async throws {
    for _ in 0..<rounds {
        let start = Times()
        for _ in 0..<count {
            let outcome = try await RunLoop.Child.run(["/bin/echo", "one"], on: .main)
            precondition(outcome.output.text == "one\n", "The child has written something else.")
        }
        printFigures(start.perOperation(count))
    }
}
