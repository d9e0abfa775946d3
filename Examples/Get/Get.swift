import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Gets pages of a server by HTTP/1.1, one after another, over one connection as long as the server keeps it.
///
///     swift run get 10 example.org:80 / /about
///
/// The number is how many seconds a request may take as a whole: a server that sends a byte now and then is given up as well.
@main
struct Get {
    static let usage = "usage: get SECONDS HOST:PORT /PATH ..."

    @MainActor static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // An answer, and no error.
        if arguments == ["--help"] { return print(usage) }
        guard arguments.count > 2, let limit = Double(arguments[0]), let client = Client(arguments[1], limit) else {
            say(usage)
            exit(2)
        }
        Task {
            do {
                for path in arguments[2...] {
                    let (status, body) = try await client.get(path)
                    say("\(path): status \(status), \(body.count) bytes")
                    print(String(decoding: body, as: UTF8.self), terminator: "")
                }
                exit(0)
            } catch {
                say("get: \((error as? Refusal)?.reason ?? "\(error)")")
                exit(1)
            }
        }
        RunLoop.main.run()
    }

    static func say(_ words: String) { _ = (words + "\n").withCString { write(STDERR_FILENO, $0, strlen($0)) } }
}

struct Refusal: Error { let reason: String }

/// A client of one server, for one request at a time.
@MainActor
final class Client {
    private let host: String
    private let port: UInt16
    private let limit: Duration
    private var kept: (RunLoop.Connection, RunLoop.Reader)?  // nil: the next request makes one.

    init?(_ server: String, _ seconds: Double) {
        guard let match = server.wholeMatch(of: /(.+):(\d+)/), let port = UInt16(match.2), port > 0, seconds > 0,
            seconds < 1e9
        else { return nil }
        (host, self.port, limit) = (String(match.1), port, .seconds(seconds))
    }

    func get(_ path: String) async throws -> (status: Int, body: [UInt8]) {
        let deadline = RunLoop.Instant.now + limit
        let former = kept.take()
        let (connection, reader) = if let former { former } else { try await connect() }
        connection.deadline = deadline
        defer { connection.deadline = nil }
        try await connection.writer.write("GET \(path) HTTP/1.1\r\nHost: \(host):\(port)\r\n\r\n")
        var (status, length, isChunked, isLast, body) = (0, Int?.none, false, false, [UInt8]())
        while let line = try await reader.line(limit: 8192)?.lowercased(), !line.isEmpty {
            if let match = line.prefixMatch(of: /http\/1\.([01]) (\d{3})/) {
                (status, isLast) = (Int(match.2) ?? 0, match.1 == "0")
            }
            if let match = line.wholeMatch(of: /content-length:\s*(\d+)\s*/) { length = Int(match.1) }
            if line.contains(/^transfer-encoding:.*chunked/) { isChunked = true }
            if line.contains(/^connection:.*close/) { isLast = true }
        }
        // The server may have ended a connection that was kept.
        if status == 0 && former != nil { return try await get(path) }
        if status == 0 { throw Refusal(reason: "the server does not answer by HTTP/1.1") }
        if isChunked {
            body = try await chunks(reader)
        } else if let length {
            body = try await bytes(length, reader)
        } else {
            while let chunk = try await reader.chunk() { body += chunk }
            isLast = true
        }
        if !isLast { kept = (connection, reader) }
        return (status, body)
    }

    private func connect() async throws -> (RunLoop.Connection, RunLoop.Reader) {
        let target = RunLoop.SocketAddress.tcp(host, port: port)
        let connection = try await RunLoop.Connection.connect(to: target, within: limit, on: .main)
        return (connection, connection.makeReader())
    }

    private func bytes(_ count: Int, _ reader: RunLoop.Reader) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let chunk = try await reader.chunk(upTo: count - bytes.count) else {
                throw Refusal(reason: "the server has ended after \(bytes.count) of \(count) bytes")
            }
            bytes += chunk
        }
        return bytes
    }

    /// Each begins with its size, and the last one is empty.
    private func chunks(_ reader: RunLoop.Reader) async throws -> [UInt8] {
        var (body, size) = ([UInt8](), 1)
        while size > 0 {
            let line = try await reader.line(limit: 1024) ?? ""
            size = Int(line.prefix { $0.isHexDigit }, radix: 16) ?? -1
            if size < 0 { throw Refusal(reason: "the server sends “\(line)” in place of a size") }
            body += try await bytes(size, reader)
            // The end of the chunk's line, or the trailers after the last one.
            while let line = try await reader.line(limit: 8192), !line.isEmpty {}
        }
        return body
    }
}
