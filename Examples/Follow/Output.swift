import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension RunLoop.Mode {
    /// The mode in which the last output is written. It has what is in all common modes, the writer, but neither the changes of files nor the
    /// signals.
    static let last: RunLoop.Mode = "follow.last"
}

/// The standard output, which may be slow: what it does not accept waits in a writer, within bounds.
///
/// It is not made non-blocking, because that would affect every process that shares it, the shell included.
@MainActor final class Output {
    /// Called when there is space again.
    var whenSpace: @MainActor () -> Void = {}
    private let loop: RunLoop
    private let whenGone: @Sendable () -> Void
    private let showsNames: Bool
    private var lastName: String?
    private let writer: RunLoop.Writer
    private var end: RunLoop.Source?

    private static let limit = 256 * 1024

    /// - Parameters:
    ///   - showsNames: print the name of a file when the output changes to it.
    ///   - whenGone: called when nobody reads the output any more.
    init(on loop: RunLoop, showsNames: Bool, whenGone: @escaping @Sendable () -> Void) throws {
        (self.loop, self.showsNames, self.whenGone) = (loop, showsNames, whenGone)
        loop.addCommonMode(.last)
        // The space beyond the limit is for what is printed when it is nearly reached.
        writer = try RunLoop.Writer(borrowing: STDOUT_FILENO, on: loop, limit: 2 * Self.limit)
        // Errors are reported to every source, so this one needs to ask for nothing else.
        let end = try RunLoop.Source(fileDescriptor: STDOUT_FILENO, events: .error) { _ in whenGone() }
        do {
            try loop.add(end, forMode: .default)
            self.end = end
        } catch RunLoop.Error.permissionDenied {
            // A regular file, which is always ready and can't be waited for.
        }
    }

    /// Whether nothing should be added before there is space.
    var isFull: Bool { writer.waitingCount >= Self.limit }

    /// Adds bytes that were read from a file, which the loop writes.
    func print(_ read: [UInt8], from name: String) {
        if read.isEmpty { return }
        var heading = ""
        if showsNames && name != lastName {
            heading = "\(lastName == nil ? "" : "\n")==> \(name) <==\n"
            lastName = name
        }
        do { _ = try writer.enqueue(heading.utf8 + read) } catch { fail(error) }
        if isFull { Task { await waitForSpace() } }
    }

    private func waitForSpace() async {
        do { try await writer.flush() } catch { fail(error) }
        whenSpace()
    }

    private func fail(_ error: any Error) {
        if error as? RunLoop.Error == .brokenPipe { return whenGone() }
        Message.print("\(error)")
        exit(1)
    }

    /// Writes the rest of the output, for at most `limit` if its reader is slow.
    func finish(for limit: Duration) {
        end?.invalidate()
        loop.run(mode: .last, until: { writer.waitingCount == 0 }, deadline: .now + limit)
    }
}
