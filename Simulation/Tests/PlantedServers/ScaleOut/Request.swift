import RunLoopKit
import RunLoopKitLinux

/// As much of HTTP/1.1 as the example needs: requests without a body, and connections that stay open.
struct Request {
    let path: String
    let keepsOpen: Bool

    /// The next request. `nil`: the client has ended the connection, or has sent something else.
    static func next(
        from reader: RunLoop.Reader, isolation actor: isolated (any Actor)?, hasBegun: () -> Void
    ) async throws -> Request? {
        guard let first = try await reader.line(limit: 4096, isolation: actor) else { return nil }
        let words = first.split(separator: " ")
        guard words.count == 3, words[0] == "GET", words[2].hasPrefix("HTTP/1.") else { return nil }
        var keepsOpen = words[2] == "HTTP/1.1"
        for _ in 0..<100 {
            guard let field = try await reader.line(limit: 4096, isolation: actor) else { return nil }
            if field.isEmpty {
                // The bug: the request has begun with its first line.
                hasBegun()
                return Request(path: String(words[1]), keepsOpen: keepsOpen)
            }
            if field.lowercased() == "connection: close" { keepsOpen = false }
        }
        return nil
    }
}

/// An answer as text.
func response(_ status: String, _ body: String, keepsOpen: Bool) -> String {
    "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(keepsOpen ? "" : "Connection: close\r\n")\r\n\(body)"
}
