#if os(Linux)
public import RunLoopKit

extension RunLoop {
    /// Reads the input of a descriptor by lines, chunks and bytes, in turns, and keeps what it has read until somebody takes it.
    ///
    ///     let reader = RunLoop.Reader(borrowing: descriptor, on: loop)
    ///     for try await line in reader.lines() {
    ///         if line.isEmpty { break }   // the end of a header
    ///         take(line)
    ///     }
    ///     while let part = try await reader.chunk() { output += part }
    ///
    /// The buffer belongs to the reader and not to an iteration: after a `break`, a cancelled wait, or a line that was too long, the
    /// next call returns what follows the last part that was returned. `lines(of:)`, `chunks(of:)` and `bytes(of:)` of a loop are
    /// for one iteration over the whole input.
    ///
    /// The loop's thread reads, when the loop, in the reader's mode, reports the descriptor as readable, once per report and only while
    /// a call waits for more than there is. The mode is not empty (R23) from the first wait until the end of the input, an error, a
    /// cancelled wait, or the release of the reader; then no thread reads from the descriptor, and the caller may close it. Regular
    /// files and devices like /dev/null are read as by `bytes(of:)`.
    ///
    /// A call that waits when its task is cancelled returns `nil`, which is no error, and takes nothing. `nil` is also returned at
    /// the end of the input. A later call asks the descriptor again, so a file that has grown since is read on.
    ///
    /// Each call throws `badDescriptor`, `loopFinished` if the loop's thread ends, what else adding a source can except
    /// `permissionDenied`, and what reading from the descriptor can.
    ///
    /// A reader is for one task at a time.
    @safe public final class Reader {
        private let input: InputOfDescriptor
        /// `nil` before the first wait, and when the loop has no source of the descriptor.
        private var reader: DescriptorReader?
        /// What was read and not taken: the beginning of a line, from earlier reads, and then the rest of what the reader has, which
        /// is empty when the reader waits.
        private var begun: ArraySlice<UInt8> = []
        private var rest = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        /// How many lines were taken since something else last had its turn.
        private var linesOfTurn = 0
        /// A descriptor of which much is there is not to keep the others waiting.
        private static let turn = 16
        /// `begun` is of a chunk that was not complete, and so may have ends of lines.
        private var mayHaveLines = false
        /// What was read last is the beginning of a line that is too long, which has been reported.
        private var isInLongLine = false

        /// Makes a reader, which reads nothing yet.
        ///
        /// - Parameters:
        ///   - descriptor: open for reading: a pipe, a socket, a terminal, a file. Need not be non-blocking, unless somebody else
        ///     reads from it, too. Stays the caller's.
        ///   - loop: on whose thread it is read.
        ///   - bufferSize: how much is read at a time at most, in bytes, greater than zero (anything else is a precondition
        ///     failure).
        ///   - mode: in which mode, or in all common ones.
        public init(
            borrowing descriptor: CInt, on loop: RunLoop, bufferSize: Int = 65_536, inMode mode: Mode = .common
        ) {
            input = InputOfDescriptor(loop, descriptor, mode, bufferSize: bufferSize)
        }

        init(_ input: InputOfDescriptor) {
            self.input = input
        }

        /// The next line, without its end: a line feed, or a carriage return and a line feed. The text after the last line feed of
        /// the input is a line as well, unless it is empty. Text is UTF-8, and invalid bytes are replaced by U+FFFD. O(bytes).
        ///
        /// - Parameter limit: the maximum length of a line, without its end, in bytes; a negative one is a precondition failure.
        /// - Throws: `lineTooLong` as soon as that is known. The line is still there for the next call, which may have a larger limit,
        ///   or take chunks.
        public func line(
            limit: Int = 1_048_576, isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> String? {
            precondition(limit >= 0, "The limit of a line is not negative.")
            defer { limits?.endLine() }
            while true {
                if let line = try knownLine(limit: limit) { return line }
                try await beginLine().wait(isolation: actor)
                switch try takeForLine() {
                case .filled: continue
                case .cancelled: return nil
                case .end: return try lastLine(limit: limit)
                }
            }
        }

        // What `line` does between its waits are calls, since the frame of an asynchronous function reserves space for all that is written out in it,
        // and each connection that waits for a line keeps one.

        /// What is there is the beginning of a line, or there are more lines after those of a turn.
        @inline(never)
        private func beginLine() throws(RunLoop.Error) -> DescriptorReader {
            if let reader, linesOfTurn >= Self.turn {
                linesOfTurn = 0
                reader.waitsForTurn = true
                return reader
            }
            if unsafe !rest.isEmpty { unsafe begun += rest }
            if !begun.isEmpty { limits?.beginLine() }
            return try beginReading()
        }

        /// The text after the last line feed, if there is some.
        @inline(never)
        private func lastLine(limit: Int) throws(RunLoop.Error) -> String? {
            if begun.isEmpty { return nil }
            if begun.count > limit { throw .lineTooLong }
            defer { begun = [] }
            return String(decoding: begun, as: UTF8.self)
        }

        /// The next line of a chunk that was not complete.
        @inline(never)
        private func lineOfChunk(limit: Int) throws(RunLoop.Error) -> String? {
            guard let end = begun.firstIndex(of: lineFeed) else {
                mayHaveLines = false
                return nil
            }
            let line = begun[..<end]
            let count = line.count - (line.last == carriageReturn ? 1 : 0)
            if count > limit { throw .lineTooLong }
            begun = begun[(end + 1)...]
            return String(decoding: line.prefix(count), as: UTF8.self)
        }

        /// The next line, if its end has arrived. Throws `lineTooLong`, as soon as that is known. `nil` also if something else is to have
        /// its turn before.
        func knownLine(limit: Int) throws(RunLoop.Error) -> String? {
            if mayHaveLines, let line = try lineOfChunk(limit: limit) { return line }
            if linesOfTurn >= Self.turn { return nil }
            let rest = unsafe rest
            if let end = unsafe firstOffset(of: lineFeed, in: rest) {
                let line = unsafe UnsafeRawBufferPointer(rebasing: rest[..<end])
                let text = try unsafe text(of: line, limit: limit)
                unsafe self.rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
                linesOfTurn += 1
                return text
            }
            // The byte after the limit may be a carriage return before the line feed.
            let (count, last) = unsafe (begun.count + rest.count, rest.last ?? begun.last)
            if count > limit, count - 1 > limit || last != carriageReturn { throw .lineTooLong }
            return nil
        }

        /// The same of the lines with marks. One that is too long is left to the asynchronous call.
        func knownText(limit: Int) -> Line? {
            guard !isInLongLine, let text = try? knownLine(limit: limit) else { return nil }
            return .text(text)
        }

        /// The next line, or a mark for one that is too long, whose rest the next call drops.
        func lineOrMark(limit: Int, isolation actor: isolated (any Actor)?) async throws -> Line? {
            if isInLongLine {
                guard try await skipLine(isolation: actor) else { return nil }
                isInLongLine = false
            }
            do {
                return try await line(limit: limit, isolation: actor).map(Line.text)
            } catch RunLoop.Error.lineTooLong {
                isInLongLine = true
                return .tooLong
            }
        }

        /// Drops the rest of a line, however long it is, up to and with its end: after a `lineTooLong`, the next call returns the next
        /// line. Memory is bounded meanwhile.
        ///
        /// - Returns: has the line ended? `false` at the end of the input, and if the task was cancelled while it waited.
        @discardableResult
        public func skipLine(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> Bool {
            defer { limits?.endLine() }
            while true {
                if mayHaveLines, let end = begun.firstIndex(of: lineFeed) {
                    begun = begun[(end + 1)...]
                    return true
                }
                // It has no line feed.
                begun = []
                if let end = unsafe firstOffset(of: lineFeed, in: rest) {
                    unsafe rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
                    return true
                }
                limits?.beginLine()
                try await beginReading().wait(isolation: actor)
                guard case .filled = try take() else { return false }
            }
        }

        /// Returns the next bytes of the input: what has been read already, else what arrives next. Never empty.
        ///
        /// - Parameter count: how many at most, greater than zero (anything else is a precondition failure).
        public func chunk(
            upTo count: Int = .max, isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> [UInt8]? {
            precondition(count > 0, "A chunk has at least one byte.")
            if begun.isEmpty, unsafe rest.isEmpty {
                try await beginReading().wait(isolation: actor)
                guard case .filled = try take() else { return nil }
            }
            if begun.isEmpty {
                defer { unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count)) }
                return unsafe Array(rest.prefix(count))
            }
            defer { begun = begun.dropFirst(count) }
            return Array(begun.prefix(count))
        }

        /// The next bytes, exactly so many, in whatever pieces they arrive: a header of a known size, or a body whose length came before
        /// it. As much memory, so a length that comes from a peer is checked first.
        ///
        ///     guard let header = try await reader.chunk(exactly: 4) else { return }
        ///
        /// - Parameter count: greater than zero (anything else is a precondition failure).
        /// - Returns: `nil` also if the input ends with fewer, which are still there for `chunk(upTo:)`.
        public func chunk(
            exactly count: Int, isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> [UInt8]? {
            precondition(count > 0, "A chunk has at least one byte.")
            while unsafe begun.count + rest.count < count {
                unsafe begun += rest
                mayHaveLines = !begun.isEmpty
                try await beginReading().wait(isolation: actor)
                guard case .filled = try take() else { return nil }
            }
            return takeExactly(count)
        }

        /// They are there.
        private func takeExactly(_ count: Int) -> [UInt8] {
            if begun.isEmpty {
                defer { unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
                return unsafe Array(rest[..<count])
            }
            let missing = count - begun.count
            if missing <= 0 {
                defer { begun = begun.dropFirst(count) }
                return Array(begun.prefix(count))
            }
            defer {
                begun = []
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[missing...])
            }
            return unsafe Array(begun) + rest[..<missing]
        }

        /// Returns the next byte of the input.
        public func byte(isolation actor: isolated (any Actor)? = #isolation) async throws -> UInt8? {
            if let byte = knownByte() { return byte }
            try await beginReading().wait(isolation: actor)
            guard case .filled = try take() else { return nil }
            return knownByte()
        }

        /// The next byte, if it has been read.
        func knownByte() -> UInt8? {
            if let byte = begun.popFirst() { return byte }
            guard let byte = unsafe rest.first else { return nil }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
            return byte
        }

        /// The lines from here on, until the end of the input or of the iteration: `line(limit:)`, again and again.
        public func lines(limit: Int = 1_048_576) -> some AsyncSequence<String, any Swift.Error> {
            LinesOfReader(reader: self, limit: limit)
        }

        /// The input from here on, in pieces as they come: `chunk()`, again and again.
        public var chunks: some AsyncSequence<[UInt8], any Swift.Error> {
            ChunksOfReader(reader: self)
        }

        /// The bytes of the input from here on, one at a time: `byte()`, again and again.
        public var bytes: some AsyncSequence<UInt8, any Swift.Error> {
            BytesOfReader(reader: self)
        }

        /// The next buffer whole, valid until the next call, of a reader that is asked for nothing else.
        nonisolated(nonsending) func buffer() async throws(RunLoop.Error) -> UnsafeRawBufferPointer? {
            try await beginReading().wait(isolation: #isolation)
            guard case .filled = try take() else { return nil }
            return unsafe rest
        }

        private var limits: ConnectionLimits? { input.socket?.limits }

        private enum Refilling {
            case filled
            case cancelled
            case end
        }

        // To read on takes three steps, of which each call makes one itself: an asynchronous function for all of it costs as much as a line does.

        /// Everything has been taken.
        private func beginReading() throws(RunLoop.Error) -> DescriptorReader {
            unsafe rest = UnsafeRawBufferPointer(start: nil, count: 0)
            linesOfTurn = 0
            if let reader { return reader }
            let reader = try DescriptorReader(input)
            self.reader = reader
            return reader
        }

        /// What the wait has come to.
        private func take() throws(RunLoop.Error) -> Refilling {
            guard let reader else { return .end }
            switch reader.outcome {
            case .bytes(let count):
                unsafe rest = reader.bytes(count)
                return .filled
            case .turn: return .filled
            case .end, .cancelled, .failure: self.reader = nil
            }
            switch reader.outcome {
            case .failure(let error): throw error
            case .cancelled: return .cancelled
            case .end, .bytes, .turn: return .end
            }
        }

        /// The same of a line, which has begun: the error that the rest was cut off comes after what there is of it.
        @inline(never)
        private func takeForLine() throws(RunLoop.Error) -> Refilling {
            do throws(RunLoop.Error) {
                return try take()
            } catch {
                if error == .outputCutOff && !begun.isEmpty { return .end }
                throw error
            }
        }

        /// - Parameter line: its end, without the line feed.
        private func text(of line: UnsafeRawBufferPointer, limit: Int) throws(RunLoop.Error) -> String {
            let hasReturn = unsafe (line.last ?? begun.last) == carriageReturn
            let count = begun.count + line.count - (hasReturn ? 1 : 0)
            if count > limit { throw .lineTooLong }
            if begun.isEmpty {
                return unsafe String(decoding: UnsafeRawBufferPointer(rebasing: line[..<count]), as: UTF8.self)
            }
            defer { begun = [] }
            return unsafe String(decoding: (begun + line).prefix(count), as: UTF8.self)
        }
    }
}

private let lineFeed = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")
#endif
