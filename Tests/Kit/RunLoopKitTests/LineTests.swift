import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

@Suite struct LineTests {
    @Test("Lines end with a line feed, with or without a return before it, and the last one with the input")
    func lineEnds() async throws {
        let cases: [(String, [String])] = [
            ("", []),
            ("\n", [""]),
            ("\r\n", [""]),
            ("one\ntwo\r\nthree", ["one", "two", "three"]),
            ("one\n\n\r\ntwo\n", ["one", "", "", "two"]),
            ("a\rb\n\rc\r\r\nd\r", ["a\rb", "\rc\r", "d\r"]),
            ("zero \0 is text\n", ["zero \0 is text"]),
            ("größer\r\n日本語\n👩‍👩‍👧‍👦\n", ["größer", "日本語", "👩‍👩‍👧‍👦"]),
        ]
        for (text, lines) in cases {
            // Each size cuts lines, ends and characters in different places.
            for size in [1, 2, 3, 5, 4096] {
                #expect(try await linesOf(Array(text.utf8), bufferSize: size).map(scalars) == lines.map(scalars))
            }
        }
    }

    @Test("Invalid UTF-8 is replaced, also where a character is cut by the end of its line")
    func repair() async throws {
        let broken: [UInt8] = [0x61, 0xFF, 0x62, 0x0A, 0xE2, 0x82, 0x0A, 0xC3, 0x0D, 0x0A, 0xE2, 0x82]
        for size in [1, 2, 3, 64] {
            #expect(try await linesOf(broken, bufferSize: size) == ["a\u{FFFD}b", "\u{FFFD}", "\u{FFFD}", "\u{FFFD}"])
        }
    }

    @Test("A line as long as the limit is returned, whatever ends it, and a longer one throws and ends the iteration")
    func limit() async throws {
        #expect(try await linesOf(Array("none\n".utf8), bufferSize: 64, limit: .max) == ["none"])
        for size in [1, 2, 3, 4, 5, 6, 7, 64] {
            for end in ["\n", "\r\n", ""] {
                #expect(try await linesOf(Array("12345\(end)".utf8), bufferSize: size, limit: 5) == ["12345"])
                await #expect(throws: RunLoop.Error.lineTooLong, "\(size) \(end)") {
                    try await linesOf(Array("1\n123456\(end)".utf8), bufferSize: size, limit: 5)
                }
            }
            // A carriage return without a line feed after it is part of the line.
            await #expect(throws: RunLoop.Error.lineTooLong) {
                try await linesOf(Array("12345\r".utf8), bufferSize: size, limit: 5)
            }
            await #expect(throws: RunLoop.Error.lineTooLong) {
                try await linesOf(Array("12345\r6\n".utf8), bufferSize: size, limit: 5)
            }
            #expect(try await linesOf(Array("\n\r\n".utf8), bufferSize: size, limit: 0) == ["", ""])
        }
    }

    @Test("A line that is too long throws before it ends, and nothing is returned after it")
    func refusedEarly() async throws {
        let thread = try RunLoop.Thread()
        let (reader, writer) = try makePipe()
        var lines = thread.loop.lines(of: reader, limit: 3).makeAsyncIterator()
        try #require(write(writer, "abc\nabcd", 8) == 8)
        #expect(try await lines.next(isolation: nil) == "abc")
        await #expect(throws: RunLoop.Error.lineTooLong) { _ = try await lines.next(isolation: nil) }
        try #require(write(writer, "\nabc\n", 5) == 5)
        #expect(try await lines.next(isolation: nil) == nil)
        close(reader)
        close(writer)
    }

    @Test("Lines that are too long are skipped, and each is reported once in its place, wherever the input is cut")
    func skipped() async throws {
        let long = RunLoop.Line.tooLong
        func text(_ text: String) -> RunLoop.Line { .text(text) }
        let cases: [(String, [RunLoop.Line])] = [
            ("", []),
            ("12345\n123456\n1\n", [text("12345"), long, text("1")]),
            ("12345\r\n123456\r\n12345", [text("12345"), long, text("12345")]),
            ("123456", [long]),
            ("12345\r", [long]),
            ("12345\r6\n\n", [long, text("")]),
            (
                String(repeating: "x", count: 99) + "\n" + String(repeating: "y", count: 99) + "\nz",
                [long, long, text("z")]
            ),
            ("\n1234567\n\n1234567", [text(""), long, text(""), long]),
            ("ünü\nünün\n", [text("ünü"), long]),
        ]
        for (input, lines) in cases {
            for size in [1, 2, 3, 4, 5, 6, 7, 8, 64] {
                let found = try await elements(of: Array(input.utf8)) { loop, reader in
                    loop.lines(of: reader, skippingLongerThan: 5, bufferSize: size)
                }
                #expect(found == lines, "\(input), \(size)")
            }
        }
        let none = try await elements(of: Array("\n1\n\r\n".utf8)) { $0.lines(of: $1, skippingLongerThan: 0) }
        #expect(none == [text(""), long, text("")])
    }

    @Test("A line that is too long is reported before it ends, and the next line is returned")
    func skippedEarly() async throws {
        let thread = try RunLoop.Thread()
        let (reader, writer) = try makePipe()
        var lines = thread.loop.lines(of: reader, skippingLongerThan: 3).makeAsyncIterator()
        try #require(write(writer, "abc\nabcd", 8) == 8)
        #expect(try await lines.next(isolation: nil) == .text("abc"))
        #expect(try await lines.next(isolation: nil) == .tooLong)
        try #require(write(writer, "efghijklm", 9) == 9)
        try #require(write(writer, "\nnext\nend", 9) == 9)
        #expect(try await lines.next(isolation: nil) == .tooLong)
        close(writer)
        #expect(try await lines.next(isolation: nil) == .text("end"))
        #expect(try await lines.next(isolation: nil) == nil)
        close(reader)
    }

    @Test("A line of a mebibyte is returned, one byte more is too long")
    func longLines() async throws {
        let most = 1_048_576
        for end in ["\n", "\r\n"] {
            let line = [UInt8](repeating: 0x78, count: most)
            let lines = try await linesOf(line + Array(end.utf8))
            #expect(lines.map(\.utf8.count) == [most])
            await #expect(throws: RunLoop.Error.lineTooLong) { try await linesOf(line + Array("x\(end)".utf8)) }
        }
    }

    @Test("Many lines of all lengths, cut anywhere, arrive unchanged")
    func manyLines() async throws {
        let sent = (0..<20_000).map { "\($0)é" + String(repeating: "ü", count: $0 % 97) }
        let text = Array(sent.joined(separator: "\n").utf8)
        #expect(try await linesOf(text, bufferSize: 4099) == sent)
    }

    @Test("A line is returned when it has arrived, not when the buffer is full")
    func promptness() async throws {
        let thread = try RunLoop.Thread()
        let (reader, writer) = try makePipe()
        var lines = thread.loop.lines(of: reader).makeAsyncIterator()
        for number in 0..<20 {
            let line = "line \(number)\n"
            try #require(write(writer, line, line.utf8.count) == line.utf8.count)
            #expect(try await lines.next(isolation: nil) == "line \(number)")
        }
        close(writer)
        #expect(try await lines.next(isolation: nil) == nil)
        close(reader)
    }
}

/// Sends the bytes through a pipe, and returns the lines.
@discardableResult
private func linesOf(_ bytes: [UInt8], bufferSize: Int = 65_536, limit: Int = 1_048_576) async throws -> [String] {
    try await elements(of: bytes) { loop, reader in loop.lines(of: reader, limit: limit, bufferSize: bufferSize) }
}

private func elements<Lines: AsyncSequence>(
    of bytes: [UInt8], _ begin: (RunLoop, CInt) -> Lines
) async throws -> [Lines.Element] {
    let thread = try RunLoop.Thread()
    let (reader, writer) = try makePipe()
    _ = fcntl(writer, F_SETFL, 0)
    let sender = TestThread {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write(writer, $0.baseAddress, $0.count) }
            if count <= 0 { break }
            sent += count
        }
        close(writer)
    }
    defer {
        // The sender must not wait for a reader that has stopped.
        drain(reader)
        sender.join()
        close(reader)
    }
    var lines: [Lines.Element] = []
    for try await line in begin(thread.loop, reader) { lines.append(line) }
    return lines
}

private func drain(_ descriptor: CInt) {
    _ = fcntl(descriptor, F_SETFL, 0)
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while read(descriptor, &bytes, bytes.count) > 0 {}
}

/// The scalars of a text, since texts that look the same are equal.
private func scalars(_ text: String) -> [UInt32] { text.unicodeScalars.map(\.value) }
