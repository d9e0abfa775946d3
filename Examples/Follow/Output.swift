import RunLoopKit

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension RunLoop.Mode {
    /// The mode in which the last output is written; it has nothing else.
    static let last: RunLoop.Mode = "follow.last"
}

/// The standard output, which may be slow: what it does not accept waits here, within bounds.
///
/// It is not made non-blocking, because that would affect every process that shares it, the shell included. Instead, when it is
/// writable, it is given no more than a pipe accepts without blocking.
@MainActor final class Output {
    /// Called when there is space again.
    var whenSpace: @MainActor () -> Void = {}
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
    ///   - showsNames: print the name of a file when the output changes to it.
    ///   - whenGone: called when nobody reads the output any more.
    init(on loop: RunLoop, showsNames: Bool, whenGone: @escaping @Sendable () -> Void) throws {
        self.loop = loop
        self.showsNames = showsNames
        // Errors are reported to every source, so this one needs to ask for nothing else.
        let end = try RunLoop.Source(fileDescriptor: STDOUT_FILENO, events: .error) { _ in whenGone() }
        do throws(RunLoop.Error) {
            try loop.add(end, forMode: .default)
        } catch .permissionDenied {
            // A regular file, which is always ready and can't be waited for.
            return
        }
        self.end = end
        writer = try RunLoop.Source(
            fileDescriptor: STDOUT_FILENO, events: .write,
            perform: RunLoop.onMainActor {
                [weak self] _ in
                self?.writePiece()
            })
    }

    /// Whether nothing should be added before there is space.
    var isFull: Bool { bytes.count - start >= Self.limit }

    /// Adds bytes that were read from a file. The next `flush()` writes them.
    func print(_ read: [UInt8], from name: String) {
        if read.isEmpty { return }
        if showsNames && name != lastName {
            bytes += Array("\(lastName == nil ? "" : "\n")==> \(name) <==\n".utf8)
            lastName = name
        }
        bytes += read
    }

    /// Begins to write the waiting bytes.
    func flush() {
        if writer == nil {
            while start < bytes.count { write(upTo: bytes.count) }
            forgetWritten()
        } else if start < bytes.count && !isWaiting {
            wait(true)
        }
    }

    /// Writes the rest of the output, for at most `limit` if its reader is slow.
    func finish(for limit: Duration) {
        end?.invalidate()
        // When everything is written, the writer is removed from the mode. That leaves it empty, so the run is finished.
        loop.run(mode: .last, for: limit)
    }

    private func writePiece() {
        let wasFull = isFull
        write(upTo: min(start + Self.piece, bytes.count))
        forgetWritten()
        if bytes.isEmpty { wait(false) }
        if wasFull && !isFull { whenSpace() }
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
        // Moving the rest to the front pays off only now and then.
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            start = 0
        } else if start > Self.limit {
            bytes.removeSubrange(..<start)
            start = 0
        }
    }

    /// A pipe is writable nearly always, so the source is in the loop only while there is something to write.
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

/// A global function, because the method of that name would hide the system call.
private func systemWrite(_ descriptor: CInt, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
}
