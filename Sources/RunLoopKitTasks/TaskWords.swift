#if os(Linux)
internal import CRunLoopExecutors

/// A job of the runtime's, by what Swift 6.3 has in it.
///
/// A job has sixteen bytes of every object, two words for the queue that holds it, its flags, its number, two words of the runtime's, and
/// then the function. That of a task goes on with its context, which has that of its caller, and the function there; three more words of
/// the runtime's, then its status, and what it has noted of it.
@safe package struct TaskWords {
    /// The caller makes sure that the job exists.
    @safe private let words: UnsafePointer<UInt>

    package init(_ job: UnownedJob) {
        words = unsafe unsafeBitCast(job, to: UnsafePointer<UInt>.self)
    }

    private init?(address: UInt) {
        guard let words = unsafe UnsafePointer<UInt>(bitPattern: address) else { return nil }
        self.words = unsafe words
    }

    package var address: UInt { UInt(bitPattern: words) }

    /// Other jobs are an actor's.
    package var isTask: Bool {
        let kindOfTask: UInt = 0
        return words[4] & 0xff == kindOfTask
    }

    /// The actor whose job it is, which runs the tasks that wait for the actor. `nil` if it is a task, or another job of the runtime's.
    package var actor: AnyObject? {
        let kindOfActor: UInt = 193
        guard words[4] & 0xff == kindOfActor, let address = unsafe UnsafeRawPointer(bitPattern: words[8]) else {
            return nil
        }
        return unsafe Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue()
    }

    /// Made by `Task.yield()`: it only lets its task go on.
    package var isEndOfYield: Bool { words[4] & 0xff == 195 }

    /// As debuggers show it.
    package var number: UInt32 { UInt32(words[4] >> 32) }

    /// 0 outside of tasks.
    package static var numberOfCurrent: UInt32 {
        unsafe withUnsafeCurrentTask { task in
            unsafe task.map { unsafe TaskWords(unsafeBitCast($0, to: UnownedJob.self)).number } ?? 0
        }
    }

    /// An `async let`, whose memory is its parent's.
    package var isInParent: Bool { words[4] & (1 << 28) != 0 }
    package var isComplete: Bool { words[12] & 0x2000 != 0 }
    package var isCancelled: Bool { words[12] & 0x100 != 0 }

    /// Whether it is a child, of a group or an `async let`, and in a group, and whether it has a result: these decide what follows.
    private var hasParent: Bool { words[4] & (1 << 24) != 0 }
    private var hasResult: Bool { words[4] & (1 << 25) != 0 }
    private var isInGroup: Bool { words[4] & (1 << 26) != 0 }

    /// In words, without what follows.
    private static let size = 26

    /// The address of the task whose child it is, or 0.
    package var parent: UInt { isTask && hasParent ? words[Self.size] : 0 }

    /// What it has thrown at its end; `nil` if it returned, or has not ended. After the words of each task come two of a child, one of a child
    /// of a group, and of a result its status, its type, and its error.
    package var thrown: (any Error)? {
        guard isTask, isComplete, hasResult else { return nil }
        let result = Self.size + (hasParent ? 2 : 0) + (isInGroup ? 1 : 0)
        let hasThrown: UInt = 2
        guard words[result] & 3 == hasThrown, words[result + 2] != 0 else { return nil }
        return Self.error(at: words[result + 2])
    }

    /// An error of the runtime's, which exists as long as the caller says.
    package static func error(at address: UInt) -> any Error {
        unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: (any Error).self, capacity: 1) { unsafe $0.pointee }
        }
    }

    /// With which it goes on, and 0 if there is none.
    package var function: UInt { words[7] }
    /// Of that function.
    var context: UInt { words[8] }
    /// Of a task that has not begun: three words before its context. Of another one, what is there. 0 if it is no task.
    package var closure: UInt { unsafe isTask ? UnsafePointer<UInt>(bitPattern: context)?[-3] ?? 0 : 0 }

    //===-- its callers -----------------------------------------------------------------------------------------------===//

    /// What a context has of its caller, if the task does not go on meanwhile.
    static func plain(_ context: UInt) -> (context: UInt, function: UInt)? {
        unsafe UnsafePointer<UInt>(bitPattern: context).map { unsafe ($0[0], $0[1]) }
    }

    /// The same, and `nil` for what is no memory any more.
    static func careful(_ context: UInt) -> (context: UInt, function: UInt)? {
        var found: (context: UInt, function: UInt) = (0, 0)
        return unsafe runloop_read_words(context, &found.context, &found.function) ? found : nil
    }

    //===-- what it waits for -----------------------------------------------------------------------------------------===//

    package enum Awaited {
        case task(address: UInt)
        case continuation, taskGroup, something
    }

    /// The note of that has two words of every note, what is waited for, a function, and of which kind it is. The task may go on meanwhile.
    package var awaited: Awaited {
        let hasDependency: UInt = 0x4000
        let note = words[13]
        var (what, kind, unused): (UInt, UInt, UInt) = (0, 0, 0)
        guard words[12] & hasDependency != 0,
            unsafe runloop_read_words(note + Self.bytes(2), &what, &unused),
            unsafe runloop_read_words(note + Self.bytes(4), &kind, &unused)
        else { return .something }
        return switch kind & 0xff {
        case 1: .task(address: what)
        case 2: .continuation
        case 3: .taskGroup
        default: .something
        }
    }

    private static func bytes(_ words: UInt) -> UInt { words * UInt(MemoryLayout<UInt>.size) }

    /// The task that it waits for, if it does not go on meanwhile.
    package var awaitedTask: TaskWords? {
        guard case .task(let address) = awaited else { return nil }
        return TaskWords(address: address)
    }

    //===-- references ------------------------------------------------------------------------------------------------===//

    /// Only for a task that is not in its parent.
    package func retain() { _ = unsafe Unmanaged<AnyObject>.fromOpaque(words).retain() }
    package func release() { unsafe Unmanaged<AnyObject>.fromOpaque(words).release() }
}
#endif
