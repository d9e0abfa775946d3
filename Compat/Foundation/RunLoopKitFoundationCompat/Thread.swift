#if os(Linux)
public import FoundationEssentials
internal import RunLoopKit

/// Foundation's thread: the part of it that programs with run loops use.
///
/// A thread runs its loop only if its block calls `RunLoop.current.run()`. A started thread retains its object until it ends.
/// The type is not Sendable, as in Foundation, though its methods may be called from any thread.
open class Thread {
    private struct State: Sendable {
        var name: String?
        var stackSize = 8 << 20
        var phase = Phase.new
        var isCancelled = false
        var qualityOfService = QualityOfService.default
    }

    private enum Phase { case new, executing, finished }

    private let state = Guarded(State())
    private let block: (@Sendable () -> Void)?

    /// Values that the thread's own code keeps with it. For that thread only.
    public let threadDictionary = ThreadDictionary()

    /// Makes a thread that will call `main()`, for subclasses that override it. It is not started.
    public init() {
        block = nil
    }

    /// Makes a thread that will call `block`. It is not started.
    public init(block: @escaping @Sendable () -> Void) {
        self.block = block
    }

    /// The object of a thread that was not started by this class.
    init(adopted name: String?) {
        block = nil
        state.withLock {
            $0.name = name
            $0.phase = .executing
        }
    }

    /// The calling thread: the object that started it, or an object that is made for it.
    open class var current: Thread { CurrentThread.object }

    /// The initial thread of the process.
    open class var mainThread: Thread { CurrentThread.main }

    /// Is the calling thread the initial one?
    open class var isMainThread: Bool { current.isMainThread }

    /// Starts a thread that calls `block`.
    open class func detachNewThread(_ block: @escaping @Sendable () -> Void) {
        Thread(block: block).start()
    }

    /// Blocks the calling thread until a date, which becomes an instant now.
    open class func sleep(until date: Date) {
        guard let end = FireDate(date).instant else { while true { pause() } }
        PosixThread.sleep(for: max(end - Instant.now, .zero))
    }

    /// Blocks the calling thread for that many seconds; not at all for zero or less.
    open class func sleep(forTimeInterval interval: TimeInterval) {
        sleep(until: Date() + interval)
    }

    /// Starts the thread. It is a precondition failure to call it twice, or if the system has no threads left.
    open func start() {
        let (name, stackSize) = state.withLock { state in
            precondition(state.phase == .new, "A thread is started once.")
            state.phase = .executing
            return (state.name, state.stackSize)
        }
        let thread = Unguarded(self)
        do throws(RunLoopKit.RunLoop.Error) {
            try PosixThread(name: name, stackSize: stackSize) { thread.object.begin() }.detach()
        } catch {
            preconditionFailure(error.description)
        }
    }

    /// The body of the thread, which calls its block. To be overridden, not to be called.
    open func main() {
        block?()
    }

    /// Requests the thread to end, which has to check `isCancelled`.
    open func cancel() {
        state.withLock { $0.isCancelled = true }
    }

    /// Was it requested to end?
    open var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Was it started, and has not ended?
    open var isExecuting: Bool { state.withLock { $0.phase == .executing } }

    /// Has it ended?
    open var isFinished: Bool { state.withLock { $0.phase == .finished } }

    /// Is it the initial thread?
    open var isMainThread: Bool { self === CurrentThread.main }

    /// A name for people. Debuggers show 15 bytes of the one that it had when it started, or that it has set itself since. A thread that
    /// this class did not start has the system's name at first, which for the initial thread is that of the program.
    open var name: String? {
        get { state.withLock { $0.name } }
        set {
            state.withLock { $0.name = newValue }
            if self === CurrentThread.object { PosixThread.setCurrentName(newValue ?? "") }
        }
    }

    /// How important the thread's work is. Kept, and without effect: Linux has no such classes.
    open var qualityOfService: QualityOfService {
        get { state.withLock { $0.qualityOfService } }
        set { state.withLock { $0.qualityOfService = newValue } }
    }

    /// The size of its stack in bytes, if set before the start. Rounded up to whole pages.
    open var stackSize: Int {
        get { state.withLock { $0.stackSize } }
        set { state.withLock { $0.stackSize = newValue } }
    }

    private func begin() {
        CurrentThread.begin(self)
        main()
        state.withLock { $0.phase = .finished }
    }
}

extension Thread: NSObjectProtocol, Hashable {
    /// Are these the same thread? O(1).
    public static func == (a: Thread, b: Thread) -> Bool { a === b }

    /// Hashes the thread's identity. O(1).
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

@available(*, unavailable)
extension Thread: @unchecked Sendable {}

/// How important work is to the user of the program. Has no effect on Linux.
public enum QualityOfService: Int, Sendable {
    /// The user waits for the next frame.
    case userInteractive
    /// The user waits for a result.
    case userInitiated
    /// The user sees its progress.
    case utility
    /// The user does not see it.
    case background
    /// Not said.
    case `default`
}

/// The dictionary of a thread: the part of NSMutableDictionary that is used for it.
public final class ThreadDictionary {
    /// What is removed is freed after the change: its end may use the dictionary.
    private var values: [AnyHashable: Any] = [:]

    /// The value of a key. Setting `nil` removes it.
    public subscript(key: AnyHashable) -> Any? {
        get { values[key] }
        set { withExtendedLifetime(values[key]) { values[key] = newValue } }
    }

    /// The number of values.
    public var count: Int { values.count }

    /// Removes the value of a key.
    public func removeObject(forKey key: AnyHashable) { self[key] = nil }

    /// Removes all values.
    public func removeAllObjects() { withExtendedLifetime(values) { values = [:] } }
}
#endif
