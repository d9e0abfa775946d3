#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A plain thread: it calls a closure and ends. It has no loop until the closure asks for one.
struct Thread: @unchecked Sendable {
    /// The name of the calling thread, if it is one of these. Outside of tasks, a task-local value is the thread's own.
    @TaskLocal static var name: String?

    private let handle: pthread_t

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let start = Unmanaged.passRetained(Start(name: name, body: body)).toOpaque()
        // An optional in some C libraries, a number in others; this initialises both.
        var handle: pthread_t! = pthread_self()
        let result = pthread_create(
            &handle, nil,
            { start in
                let start = Unmanaged<Start>.fromOpaque(start!).takeRetainedValue()
                Thread.$name.withValue(start.name) { start.body() }
                return nil
            }, start)
        precondition(result == 0, "The system has no thread for \(name).")
        self.handle = handle
    }

    /// Waits until the thread and its loop have ended.
    func join() { pthread_join(handle, nil) }

    static func sleep(for duration: Duration) { usleep(useconds_t(duration / .microseconds(1))) }

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
