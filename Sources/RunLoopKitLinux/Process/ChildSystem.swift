#if os(Linux)
internal import RunLoopKit
internal import RunLoopKitCLibrary

// What children need of the C library.

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

/// Has everybody closed the other end of a pipe, and is nothing left in it?
func isAtEnd(_ number: CInt) -> Bool {
    var query = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&query, 1, 0) > 0 && query.revents & Int16(POLLHUP) != 0 && unreadCount(of: number) == 0
}

/// What has the number is closed, and /dev/null takes its place, so that nothing else does.
func replaceByNull(_ number: CInt) {
    let null = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    // Without a descriptor it remains open until its object is freed.
    if null < 0 { return }
    dup2(null, number)
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    close(null)
}

/// A second descriptor for the same.
func duplicate(_ number: CInt) throws(RunLoop.Error) -> CInt {
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
    if copy < 0 { throw RunLoop.Error(result: -errno, of: .system, subject: "descriptor \(number)") }
    return copy
}

/// An array of texts in C, with NULL at the end.
@safe final class CStrings {
    /// Valid as long as the object is.
    let pointer: UnsafeMutablePointer<UnsafePointer<CChar>?>
    private let count: Int

    /// Throws `invalid` for a text with a NUL, with its name by its index.
    init(_ texts: [String], _ name: (Int) -> String) throws(RunLoop.Error) {
        if let index = texts.firstIndex(where: { $0.utf8.contains(0) }) {
            throw RunLoop.Error.invalid.about("\(name(index)), which has a NUL")
        }
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
