#if os(Linux)
internal import RunLoopKitCLibrary

/// A thread of the operating system, to be joined or detached once, by any thread: hence Sendable.
package struct PosixThread: @unchecked Sendable {
    private let thread: pthread_t

    /// Starts a thread that calls `body`.
    package init(name: String?, stackSize: Int?, _ body: @escaping @Sendable () -> Void) throws(RunLoop.Error) {
        var attributes = pthread_attr_t()
        guard unsafe pthread_attr_init(&attributes) == 0 else { throw .outOfMemory }
        defer { unsafe pthread_attr_destroy(&attributes) }
        if let stackSize {
            let result = unsafe pthread_attr_setstacksize(&attributes, Self.usableStackSize(stackSize))
            if result != 0 { throw RunLoop.Error(result: -result, of: .thread) }
        }
        let info = unsafe retainedInfo(ThreadBox(name: name, body))
        #if canImport(Glibc)
        var thread = pthread_t()
        let result = unsafe pthread_create(&thread, &attributes, { unsafe threadCallOut($0) }, unsafe info)
        guard result == 0 else {
            unsafe releaseInfo(info)
            throw RunLoop.Error(result: -result, of: .thread)
        }
        self.thread = thread
        #else
        var thread: pthread_t?
        let result = pthread_create(&thread, &attributes, { threadCallOut($0) }, info)
        guard result == 0, let thread else {
            releaseInfo(info)
            throw RunLoop.Error(result: -result, of: .thread)
        }
        self.thread = thread
        #endif
    }

    /// The same for tests, which can't go on without.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> PosixThread {
        do throws(RunLoop.Error) {
            return try PosixThread(name: name, stackSize: nil, body)
        } catch {
            preconditionFailure("A test needs a thread. \(error)")
        }
    }

    package func join() { pthread_join(thread, nil) }
    package func detach() { pthread_detach(thread) }

    /// Blocks the calling thread, by the machine's clock, whatever a loop's is. A signal ends `nanosleep` early, which says what is left.
    package static func sleep(for duration: Duration) {
        let (seconds, attoseconds) = duration.components
        var rest = timespec(tv_sec: time_t(clamping: seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        while unsafe withUnsafeMutablePointer(to: &rest, { unsafe nanosleep($0, $0) }) != 0 && errno == EINTR {}
    }

    /// Names the calling thread, for debuggers. Linux keeps 15 bytes; a character that does not fit is dropped as a whole.
    package static func setCurrentName(_ name: String) {
        var short = ""
        for character in name {
            if short.utf8.count + character.utf8.count > 15 { break }
            short.append(character)
        }
        // pthread_setname_np writes to this file, but not every C library shows that function to Swift.
        let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        if file < 0 { return }
        _ = unsafe short.withCString { unsafe write(file, $0, short.utf8.count) }
        close(file)
    }

    /// Rounds up to whole pages, and to the minimum that a thread needs.
    private static func usableStackSize(_ size: Int) -> Int {
        let page = Int(sysconf(CInt(_SC_PAGESIZE)))
        let least = max(size, 64 * 1024)
        return least > Int.max - page ? Int.max / page * page : (least + page - 1) / page * page
    }
}

/// The name and the body of a thread, for its C function.
private final class ThreadBox: Sendable {
    let name: String?
    let body: @Sendable () -> Void

    init(name: String?, _ body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

@Sendable
private func threadCallOut(_ info: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let info = unsafe info else { return nil }
    let box = unsafe Unmanaged<ThreadBox>.fromOpaque(info).takeRetainedValue()
    if let name = box.name { PosixThread.setCurrentName(name) }
    box.body()
    return nil
}
#endif
