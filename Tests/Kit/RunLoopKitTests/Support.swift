import Glibc
import RunLoopKit
import RunLoopKitTesting
import Synchronization
import Testing

/// Longer than any operation takes on a machine that works. No test depends on a time that is shorter. All tests share the few threads of the pool,
/// so one may wait as long as all of them take: minutes under the thread sanitizer beside something else.
let generous = Duration.seconds(600)

/// Runs `body` on a thread of its own, and so with a loop of its own. A loop must not block a thread of the task pool.
func withRunLoopThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withRunLoop { _ in try body() }
}

/// A thread, to be joined or detached.
final class TestThread: Sendable {
    private let thread: pthread_t

    init(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let info = Unmanaged.passRetained(Body(body)).toOpaque()
        let result = pthread_create(
            &thread, nil,
            { info in
                Unmanaged<Body>.fromOpaque(info!).takeRetainedValue().body()
                return nil
            }, info)
        precondition(result == 0, "A thread of a test could not be started.")
        self.thread = thread
    }

    /// Waits until the thread has ended and its loop has been freed. It blocks, so it is not for the task pool.
    func join() {
        pthread_join(thread, nil)
    }

    func detach() {
        pthread_detach(thread)
    }

    private final class Body: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// Starts a thread whose loop runs the default mode until `body` returns, and passes that loop to `body`.
func withLoopElsewhere(_ body: (RunLoop) throws -> Void) throws {
    let handed = Handed<RunLoop>()
    let thread = TestThread {
        let keepAlive = RunLoop.Source {}
        try? RunLoop.current.add(keepAlive, forMode: .default)
        handed.put(RunLoop.current)
        RunLoop.current.run()
    }
    let loop = try #require(handed.take())
    defer {
        loop.stop(remembered: true)
        thread.join()
    }
    try body(loop)
}

/// Values that one thread passes to another: the last of those that arrived.
final class Handed<Value: Sendable>: Sendable {
    private let state = Guarded<(value: Value?, arrivals: Int)>((nil, 0))

    func put(_ value: Value) {
        state.withLock { $0 = (value, $0.arrivals + 1) }
    }

    /// Waits for an arrival that was not taken. `nil` if nothing arrives for a long time.
    func take() -> Value? {
        var taken: Value?
        _ = waitUntil {
            state.withLock { state in
                guard state.arrivals > 0 else { return false }
                state.arrivals -= 1
                taken = state.value
                return true
            }
        }
        return taken
    }

    func clear() {
        state.withLock { $0.value = nil }
    }
}

/// A counter for any thread.
final class Count: Sendable {
    private let count: Atomic<Int>

    init(_ count: Int = 0) {
        self.count = Atomic(count)
    }

    var value: Int { count.load(ordering: .sequentiallyConsistent) }
    func increment() { count.add(1, ordering: .sequentiallyConsistent) }
}

/// The events, in their order.
final class Trace: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func note(_ line: String) { lines.withLock { $0.append(line) } }
}

/// Counts its deinitialization: captured by a closure, it shows when the closure is freed.
final class Token: Sendable {
    private let freed: Count
    init(_ freed: Count) { self.freed = freed }
    func touch() {}
    deinit { freed.increment() }
}

/// Waits for a condition that another thread makes true. The limit is slept, not read off a clock: that of a thread in virtual time stands still.
func waitUntil(_ condition: () -> Bool) -> Bool {
    let pause: UInt32 = 200
    for _ in 0..<Int(generous / .microseconds(pause)) {
        if condition() { return true }
        usleep(pause)
    }
    return condition()
}

/// Waits for a condition on a thread of its own, because the pool has few threads.
func eventually(_ condition: @escaping @Sendable () -> Bool) async throws -> Bool {
    try await withRunLoopThread { waitUntil(condition) }
}

/// A pipe, closed at the end.
@discardableResult
func withPipe<Value>(_ body: (_ reader: CInt, _ writer: CInt) throws -> Value) throws -> Value {
    let (reader, writer) = try makePipe()
    defer {
        close(reader)
        close(writer)
    }
    return try body(reader, writer)
}

/// A pipe that does not block. Programs that other tests start don't keep it open.
func makePipe() throws -> (reader: CInt, writer: CInt) {
    var ends: [CInt] = [-1, -1]
    let result = pipe(&ends)
    try #require(result == 0)
    for end in ends {
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    return (ends[0], ends[1])
}

/// Two connected sockets that block. Programs that other tests start don't keep them open.
func makeSockets(_ type: __socket_type) throws -> (CInt, CInt) {
    var ends: [CInt] = [-1, -1]
    let result = socketpair(AF_UNIX, CInt(type.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
    try #require(result == 0)
    return (ends[0], ends[1])
}

func writeByte(_ descriptor: CInt, _ value: UInt8 = 1) {
    var byte = value
    _ = write(descriptor, &byte, 1)
}

@discardableResult
func readByte(_ descriptor: CInt) -> Bool {
    var byte: UInt8 = 0
    return read(descriptor, &byte, 1) == 1
}

/// A non-blocking eventfd, which the Glibc module does not declare.
@_silgen_name("eventfd")
private func eventfd(_ value: UInt32, _ flags: CInt) -> CInt

func makeCounter() throws -> CInt {
    let descriptor = eventfd(0, O_NONBLOCK)
    try #require(descriptor >= 0)
    return descriptor
}

func addToCounter(_ descriptor: CInt) {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
}

func readCounter(_ descriptor: CInt) -> UInt64? {
    var count: UInt64 = 0
    return read(descriptor, &count, 8) == 8 ? count : nil
}
