import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Fetches a file by HTTP/1.1, as `wget -c` does: with a bar of progress, and from where an earlier fetch was interrupted.
///
///     swift run fetch http://example.org/index.html page.html
@main
struct Fetch {
    static let usage = "usage: fetch http://HOST[:PORT]/PATH FILE"

    @MainActor static func main() {
        // An answer, and no error.
        if CommandLine.arguments.dropFirst() == ["--help"] { return print(usage) }
        guard CommandLine.arguments.count == 3, let address = HTTPAddress(CommandLine.arguments[1]) else {
            end(2, usage)
        }
        Task {
            do {
                try await Fetch.fetch(address, to: CommandLine.arguments[2])
                exit(0)
            } catch {
                end(1, "fetch: \((error as? Refusal)?.reason ?? "\(error)")")
            }
        }
        RunLoop.main.run()
    }

    /// In one line of a terminal: a bar, if the size is known. Nobody watches anything else.
    static func show(_ done: Int, of size: Int?) {
        if isatty(STDOUT_FILENO) == 0 { return }
        if let size, size > 0 {
            let bar = String(repeating: "#", count: 40 * done / size)
            print("\r\(done) of \(size) bytes |\(bar)", terminator: done < size ? "" : "|\n")
        } else {
            print("\r\(done) bytes", terminator: "")
        }
        fflush(nil)
    }

    static func end(_ status: CInt, _ words: String) -> Never {
        _ = (words + "\n").withCString { write(STDERR_FILENO, $0, strlen($0)) }
        exit(status)
    }

    @MainActor static func fetch(_ address: HTTPAddress, to path: String) async throws {
        var status = stat()
        let known = stat(path, &status) == 0 ? Int(status.st_size) : 0
        let connection = try await RunLoop.Connection.connect(
            to: .tcp(address.host, port: address.port), within: .seconds(10), on: .main,
            options: .init(idleLimit: .seconds(30)))
        print("connected to \(connection.peerAddress)")
        let range = known > 0 ? "Range: bytes=\(known)-\r\n" : ""
        let head = "GET \(address.path) HTTP/1.1\r\nHost: \(address.host):\(address.port)\r\n"
        try await connection.writer.write(head + range + "Connection: close\r\n\r\n")
        let reader = connection.makeReader()
        let response = try await Response(reader)
        var done = 0
        switch response.status {
        case 206 where response.start == known: done = known
        // The server has no ranges, or another file by now.
        case 200 where known == 0 || response.length != known: break
        case 200: return print("\(path) is complete already")
        case 416 where known > 0 && response.size == known: return print("\(path) is complete already")
        default: throw Refusal(reason: "the server answers with status \(response.status)")
        }
        // Only now: what fails before leaves no file behind, and no file changed.
        let start = done > 0 ? O_APPEND : O_TRUNC
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | start, 0o666)
        guard file >= 0 else { throw Refusal(reason: "\(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        if done > 0 { print("goes on after \(done) bytes") }
        let size = response.length.map { done + $0 }
        while size.map({ done < $0 }) ?? true, let chunk = try await reader.chunk() {
            let part = chunk.prefix(size.map { $0 - done } ?? chunk.count)
            let written = part.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if written < part.count { throw Refusal(reason: "\(path): \(String(cString: strerror(errno)))") }
            done += part.count
            show(done, of: size)
        }
        if let size, done < size {
            throw Refusal(reason: "interrupted after \(done) of \(size) bytes; the same command goes on from there")
        }
        print("\(path) is complete: \(done) bytes")
    }
}

/// `http://host:port/path`; a host that is a number of IPv6 is in brackets.
struct HTTPAddress {
    let host: String
    let port: UInt16
    let path: String

    init?(_ text: String) {
        guard let match = text.wholeMatch(of: /http:\/\/(?:\[([^\]]+)\]|([^\/:\[\]]+))(?::(\d+))?(\/[^\s#]*)?/),
            let port = UInt16(match.3 ?? "80"), port > 0
        else { return nil }
        host = String(match.1 ?? match.2 ?? "")
        (self.port, path) = (port, String(match.4 ?? "/"))
    }
}

/// Why a fetch has not succeeded.
struct Refusal: Error { let reason: String }

/// The head of an answer.
struct Response {
    private(set) var status = 0
    private(set) var length: Int?
    /// Where the range begins, and the size of the whole file.
    private(set) var start, size: Int?

    @MainActor init(_ reader: RunLoop.Reader) async throws {
        while let line = try await reader.line(limit: 8192), !line.isEmpty {
            let text = line.lowercased()
            if let match = text.prefixMatch(of: /http\/1\.[01] (\d{3})/) { status = Int(match.1) ?? 0 }
            if let match = text.wholeMatch(of: /content-length:\s*(\d+)\s*/) { length = Int(match.1) }
            if let match = text.wholeMatch(of: /content-range:\s*bytes (?:(\d+)-\d+|\*)\/(\d+|\*)\s*/) {
                (start, size) = (match.1.flatMap { Int($0) }, Int(match.2))
            }
            if text.contains(/transfer-encoding:.*chunked/) {
                throw Refusal(reason: "the server sends pieces without a length")
            }
        }
    }
}
