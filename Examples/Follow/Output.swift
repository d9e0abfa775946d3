import RunLoopKit

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension RunLoop.Mode {
    /// In which the last output is written: nothing else is in it.
    static let last: RunLoop.Mode = "follow.last"
}

/// The standard output, which may be slow: what it does not take waits here, within bounds.
///
/// It is not made non-blocking: that would be so for everybody who shares it, the shell too. Instead it is given, when it can
/// be written to, no more than a pipe takes without blocking.
@MainActor final class Output {
    /// Called when there is room again.
    var whenRoom: @MainActor () -> Void = {}
    private let loop: RunLoop
    private let showsNames: Bool
    private var lastName: String?
    private var bytes: [UInt8] = []
    private var start = 0
    private var writer: RunLoop.Source?
    private var end: RunLoop.Source?
    private var isWaiting = false

    private static let limit = 256 * 1024
    /// PIPE_BUF.
    private static let piece = 4096

    /// - Parameters:
    ///   - showsNames: say which file follows, when it is another one.
    ///   - whenGone: called when nobody reads the output any more.
    init(on loop: RunLoop, showsNames: Bool, whenGone: @escaping @Sendable () -> Void) throws {
        self.loop = loop
        self.showsNames = showsNames
        // Errors are told to every source, so this one needs to ask for nothing else.
        let end = try RunLoop.Source(fileDescriptor: STDOUT_FILENO, events: .error) { _ in whenGone() }
        do throws(RunLoop.Error) {
            try loop.add(end, forMode: .default)
        } catch .permissionDenied {
            // A file, which is always ready, and for which nobody can wait.
            return
        }
        self.end = end
        writer = try RunLoop.Source(isolation: .shared, fileDescriptor: STDOUT_FILENO, events: .write) {
            [weak self] _ in
            self?.writePiece()
        }
    }

    /// Should nothing be added before there is room?
    var isFull: Bool { bytes.count - start >= Self.limit }

    /// Adds what was read from a file. Written by the next `flush()`.
    func print(_ read: [UInt8], from name: String) {
        if read.isEmpty { return }
        if showsNames && name != lastName {
            bytes += Array("\(lastName == nil ? "" : "\n")==> \(name) <==\n".utf8)
            lastName = name
        }
        bytes += read
    }

    /// Begins to write what there is.
    func flush() {
        if writer == nil {
            while start < bytes.count { write(upTo: bytes.count) }
            forgetWritten()
        } else if start < bytes.count && !isWaiting {
            wait(true)
        }
    }

    /// Ends with the output written, or after `limit`, if its reader takes longer.
    func finish(for limit: Duration) {
        end?.invalidate()
        // The writer leaves the mode when everything is written, which empties it: then the run is finished.
        loop.run(mode: .last, for: limit)
    }

    private func writePiece() {
        let wasFull = isFull
        write(upTo: min(start + Self.piece, bytes.count))
        forgetWritten()
        if bytes.isEmpty { wait(false) }
        if wasFull && !isFull { whenRoom() }
    }

    private func write(upTo end: Int) {
        let count = bytes[start..<end].withUnsafeBytes { systemWrite(STDOUT_FILENO, $0.baseAddress, $0.count) }
        if count < 0 && errno != EINTR && errno != EAGAIN {
            Message.print("\(SystemError("write"))")
            exit(1)
        }
        start += max(0, count)
    }

    private func forgetWritten() {
        // Moving the rest to the front is worth it only now and then.
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            start = 0
        } else if start > Self.limit {
            bytes.removeSubrange(..<start)
            start = 0
        }
    }

    /// A pipe that nobody waits to write to is nearly always ready: the source is there only when there is something to write.
    private func wait(_ isWaiting: Bool) {
        guard let writer else { return }
        self.isWaiting = isWaiting
        for mode in [RunLoop.Mode.default, .last] {
            if !isWaiting {
                loop.remove(writer, forMode: mode)
                continue
            }
            do { try loop.add(writer, forMode: mode) } catch {
                Message.print("\(error)")
                exit(1)
            }
        }
    }
}

/// Here, because the method has the name of the function.
private func systemWrite(_ descriptor: CInt, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
}
