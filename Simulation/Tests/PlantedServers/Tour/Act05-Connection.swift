/// A connection for lines of text in both directions.
@MainActor final class Connection {
    private let descriptor: Descriptor
    private let stage: Stage
    private var reader: Reader?
    private var received: [UInt8] = []

    /// `whenLine` gets each whole line, and `nil` when the other side has closed the connection.
    init(_ descriptor: Descriptor, _ stage: Stage, whenLine: @escaping @MainActor (String?) -> Void) throws {
        (self.descriptor, self.stage) = (descriptor, stage)
        reader = try Reader(descriptor, stage) { [weak self] bytes in
            self?.received += bytes
            while let line = self?.takeLine() { whenLine(line) }
            if bytes.isEmpty { whenLine(nil) }
        }
    }

    /// Bytes arrive, not lines: a part of a line, or several lines.
    private func takeLine() -> String? {
        guard let end = received.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        // The bug: there may be more behind the line.
        defer { received = [] }
        return String(decoding: received[..<end], as: UTF8.self)
    }

    func send(_ line: String) {
        do { try descriptor.put(Array((line + "\n").utf8)) } catch { stage.report(error) }
    }

    func close() { reader?.close() }
}
