#if os(Linux)
internal import RunLoopKit

/// The object of the calling thread, which the thread retains.
enum CurrentThread {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let result = unsafe pthread_key_create(&key) { object in
            // Optional with some C libraries, and never null.
            let object: UnsafeMutableRawPointer? = unsafe object
            if let object = unsafe object { unsafe Unmanaged<AnyObject>.fromOpaque(object).release() }
        }
        precondition(result == 0, "The system has no thread-specific values left.")
        return key
    }()

    private static let initial = Unguarded(Thread(adopted: systemName(of: "self")))

    /// The object of the initial thread.
    static var main: Thread { initial.object }

    static var object: Thread {
        if let object = unsafe pthread_getspecific(key) {
            return unsafe Unmanaged<Thread>.fromOpaque(object).takeUnretainedValue()
        }
        let thread = isInitial ? main : Thread(adopted: systemName(of: "thread-self"))
        begin(thread)
        return thread
    }

    static func begin(_ thread: Thread) {
        unsafe pthread_setspecific(key, Unmanaged.passRetained(thread).toOpaque())
    }

    /// The name of a process is that of its initial thread.
    private static func systemName(of folder: String) -> String? {
        let file = unsafe open("/proc/\(folder)/comm", O_RDONLY | O_CLOEXEC)
        if file < 0 { return nil }
        defer { close(file) }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { text in
            let count = unsafe read(file, text.baseAddress!, text.count)
            return unsafe String(decoding: text.prefix(max(count - 1, 0)), as: UTF8.self)
        }
    }

    /// Linux names the calling thread "process/task/thread"; the initial one has the number of its process.
    private static var isInitial: Bool {
        let name = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
            let count = unsafe readlink("/proc/thread-self", text.baseAddress!, text.count)
            return unsafe String(decoding: text.prefix(max(count, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        return name.split(separator: "/").last.map(String.init) == String(getpid())
    }
}
#endif
