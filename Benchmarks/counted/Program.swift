// Program.swift — what callgrind counts of Swift: `counted WORKLOAD N`. Everything is served on the main loop; a client is a thread that blocks,
// so that each operation takes the same way.

import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitMainActor

@main
struct Program {
    @MainActor static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let count = Int(arguments[2]), count > 0 else {
            fatalError("usage: counted lines|requests|connections|performs N")
        }
        switch arguments[1] {
        case "lines": try await serve(lines, Client(message: "\(text)\n", lastBytes: "\n", count: count))
        case "requests":
            let request = "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: counted\r\nAccept: */*\r\n\r\n"
            try await serve(requests, Client(message: request, lastBytes: page, count: count))
        case "connections":
            let client = Client(message: "\(text)\n", lastBytes: "\n", count: count, reconnects: true)
            try await serve(lines, client)
        case "performs":
            await withCheckedContinuation { continuation in
                for _ in 1..<count { RunLoop.main.perform {} }
                RunLoop.main.perform { continuation.resume() }
            }
        default: fatalError("There is no workload \"\(arguments[1])\".")
        }
        exit(0)
    }
}

let page = "Hello, world!\n"
let text = String(repeating: "m", count: 63)

//===-- servers -----------------------------------------------------------------------------------------------------===//

typealias Service = @MainActor @Sendable (RunLoop.Connection) async throws -> Void

/// Until the client has what it wants, which ends the process.
@MainActor func serve(_ service: @escaping Service, _ client: Client) async throws {
    let listener = try RunLoop.Listener(.tcp(port: 0), on: .main)
    client.start(port: listener.port ?? 0)
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

@MainActor func requests(_ connection: RunLoop.Connection) async throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(page.utf8.count)\r\n\r\n"
    let reader = connection.makeReader()
    while let request = try await reader.line(limit: 8192) {
        guard request.hasPrefix("GET ") else { return }
        while let field = try await reader.line(limit: 8192), !field.isEmpty {}
        try await connection.writer.write(head + page)
    }
}

//===-- the client --------------------------------------------------------------------------------------------------===//

/// A thread that sends a message and waits for the end of the answer, so many times, and then ends the process.
final class Client: Sendable {
    let message, lastBytes: [UInt8]
    let count: Int
    let reconnects: Bool

    init(message: String, lastBytes: String, count: Int, reconnects: Bool = false) {
        (self.message, self.lastBytes) = (Array(message.utf8), Array(lastBytes.utf8))
        (self.count, self.reconnects) = (count, reconnects)
    }

    func start(port: UInt16) {
        let start = Start(client: self, port: port)
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { start in
                let start = Unmanaged<Start>.fromOpaque(start!).takeRetainedValue()
                start.client.run(start.port)
                exit(0)
            }, Unmanaged.passRetained(start).toOpaque())
        precondition(result == 0, "The thread could not be created.")
    }

    private func run(_ port: UInt16) {
        var descriptor = connected(port)
        var answer = [UInt8](repeating: 0, count: 1024)
        for _ in 0..<count {
            precondition(write(descriptor, message, message.count) == message.count, "A message was not sent.")
            var received = 0
            repeat {
                let more = answer.withUnsafeMutableBytes {
                    read(descriptor, $0.baseAddress! + received, $0.count - received)
                }
                precondition(more > 0, "The server has ended the connection.")
                received += more
            } while !answer[..<received].suffix(lastBytes.count).elementsEqual(lastBytes)
            if reconnects {
                close(descriptor)
                descriptor = connected(port)
            }
        }
    }

    private func connected(_ port: UInt16) -> CInt {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(result == 0, "The server is not there.")
        return descriptor
    }

    private final class Start: Sendable {
        let client: Client
        let port: UInt16
        init(client: Client, port: UInt16) { (self.client, self.port) = (client, port) }
    }
}
