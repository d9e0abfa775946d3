#if os(Linux)
internal import RunLoopKit
internal import RunLoopKitCLibrary

/// The parent's end of a pipe to which a child writes, closed when nobody has this object any more.
///
/// The pipe is at its end when all that have its other end have closed it, which may be others than the child. So there is a limit after the
/// child's end: what is in the pipe by then is read still, and that is all.
final class ChildPipe: Sendable {
    private struct State {
        weak var reader: DescriptorReader?
        /// How much may be read; `nil` before the limit.
        var left: Int?
        var limit: RunLoop.Timer?
    }

    let number: CInt
    private let state = Guarded(State())

    init(_ number: CInt) {
        self.number = number
    }

    deinit {
        state.withLock { $0.limit }?.invalidate()
        close(number)
    }

    /// - Returns: may the reader wait?
    func begin(_ reader: DescriptorReader) -> Bool {
        state.withLock { state in
            state.reader = reader
            return state.left == nil
        }
    }

    /// Reads once, for the one reader.
    func read(_ input: DescriptorInput, into buffer: UnsafeMutableRawBufferPointer) -> DescriptorInput.Result {
        guard let left = state.withLock({ $0.left }) else { return unsafe input.read(into: buffer) }
        if left == 0 { return .end }
        switch unsafe input.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(left))) {
        case .bytes(let count):
            state.withLock { $0.left = left - count }
            return .bytes(count)
        case .nothing: return .end
        case let other: return other
        }
    }

    /// The child has ended: on the loop's thread.
    func beginLimit(_ duration: Duration, _ loop: RunLoop, _ mode: RunLoop.Mode) {
        let limit = RunLoop.Timer(after: duration) { [weak self] _ in self?.passLimit() }
        state.withLock { $0.limit = limit }
        loop.addUnlessOver(limit, forMode: mode)
    }

    private func passLimit() {
        let reader = state.withLock { state in
            state.left = Int(unreadCount(of: number))
            return state.reader
        }
        reader?.stopWaiting()
    }
}

/// The numbers of signals that this module sends by itself.
enum SignalNumber {
    static let terminate = SIGTERM
    static let kill = SIGKILL
}

/// Waits for a child that has ended, or is about to.
func reap(_ process: Int32) {
    while waitpid(process, nil, 0) < 0 && errno == EINTR {}
}

/// Opens a file for a child: for reading, or for writing, at its end or in the place of what it had. Closed on exec.
func openFile(_ path: String, writing: Bool, appending: Bool) throws(RunLoop.Error) -> CInt {
    let flags = writing ? O_WRONLY | O_CREAT | (appending ? O_APPEND : O_TRUNC) : O_RDONLY
    let number = unsafe open(path, flags | O_CLOEXEC, 0o666)
    if number < 0 { throw RunLoop.Error(result: -errno, of: .system, subject: path) }
    return number
}

/// An array of texts in C, with NULL at the end.
@safe final class CStrings {
    /// Valid as long as the object is.
    let pointer: UnsafeMutablePointer<UnsafePointer<CChar>?>
    private let count: Int

    /// Throws `invalid` for a text with a NUL.
    init(_ texts: [String]) throws(RunLoop.Error) {
        if texts.contains(where: { $0.utf8.contains(0) }) { throw .invalid }
        unsafe (pointer, count) = (.allocate(capacity: texts.count + 1), texts.count)
        for (index, text) in texts.enumerated() { unsafe (pointer + index).initialize(to: UnsafePointer(strdup(text))) }
        unsafe (pointer + count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { unsafe free(UnsafeMutablePointer(mutating: pointer[index])) }
        unsafe pointer.deallocate()
    }
}
#endif
