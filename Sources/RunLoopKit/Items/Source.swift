#if os(Linux)
internal import CRunLoopCore

extension RunLoop {
    /// An event outside the loop for which the loop calls a closure: a call of `signal()`, the state of a file descriptor, or a
    /// signal of the process.
    ///
    ///     let source = RunLoop.Source { print("was signalled") }
    ///     try loop.add(source, forMode: .common)
    ///     // On any thread; several signals before the call are one.
    ///     source.signal(waking: loop)
    ///
    /// A source can be in several modes of several loops. Each loop calls it on its own thread, hence the `@Sendable`
    /// closures. A loop retains its sources. The closures are freed with the source, not when it becomes invalid (R57): a
    /// closure that uses its own source captures it weakly.
    ///
    /// Sendable because its closures are, and the rest is the core's.
    public final class Source: Item, @unchecked Sendable {
        /// The conditions for which a source is called: conditions of its descriptor, with the values of EPOLLIN, EPOLLPRI, …, and what it
        /// can't ask for.
        ///
        ///     let source = try RunLoop.Source(
        ///         fileDescriptor: descriptor, events: [.read, .hangUp]
        ///     ) { readiness in
        ///         if readiness.contains(.hangUp) { isDone = true }
        ///     }
        ///     try loop.add(source, forMode: .common)
        public struct Readiness: OptionSet, Hashable, Sendable {
            /// The bits.
            public let rawValue: UInt32

            /// Any bits. A source with unknown ones cannot be made.
            public init(rawValue: UInt32) {
                self.rawValue = rawValue
            }

            /// There is input, a connection to accept, or the end of the input.
            public static let read = Readiness(rawValue: 0x001)
            /// The descriptor has urgent input, such as out-of-band bytes of TCP.
            public static let priority = Readiness(rawValue: 0x002)
            /// The descriptor takes output without blocking.
            public static let write = Readiness(rawValue: 0x004)
            /// The descriptor has an error pending. Reported to every source of the descriptor, requested or not.
            public static let error = Readiness(rawValue: 0x008)
            /// The other side of the descriptor has closed it. Reported to every source; a source that requests it is also called when the
            /// other side has shut down its half.
            public static let hangUp = Readiness(rawValue: 0x010)
            /// The source was signalled by hand. Not a condition that can be asked for.
            public static let signalled = Readiness(rawValue: 0x020)
            /// The source's deadline has passed. Not a condition that can be asked for.
            public static let due = Readiness(rawValue: 0x040)
        }

        /// An object of the library for Linux, which decides itself what it asks for.
        private let isOfObject: Bool

        /// Makes a source that is signalled by hand, in no loop yet (R56).
        ///
        /// - Parameters:
        ///   - order: lower performs first; sources of equal order in the order of their first signal (R63). Clamped to 32 bits.
        ///   - onSchedule: called after each addition to a concrete mode, on the thread that added (R58).
        ///   - onCancel: called after each removal from a concrete mode, on the thread that removed, invalidated, or ended
        ///     with its loop (R59, R67, R8).
        ///   - perform: called on the loop's thread, once however often the source was signalled (R62). It may run on
        ///     several loops at a time, and again inside itself if it signals the source and runs the mode (R66).
        public init(
            order: Int = 0, onSchedule: (@Sendable (RunLoop, Mode) -> Void)? = nil,
            onCancel: (@Sendable (RunLoop, Mode) -> Void)? = nil, perform: @escaping @Sendable () -> Void
        ) {
            let box = SignalBox(perform: perform, onSchedule: onSchedule, onCancel: onCancel)
            isOfObject = false
            unsafe super.init(makeSource(order: order, box: box), .source)
        }

        /// Makes a source that is driven by a descriptor, in no loop yet. Whether the descriptor can be waited for is checked
        /// when the source is added.
        ///
        /// The closure is called, one descriptor per iteration (R43), as long as a requested condition holds: it reads or writes
        /// until the condition no longer holds. The descriptor should be non-blocking: if another reader took the input, the
        /// closure may be called once for nothing. The loop never closes the descriptor; remove or invalidate the source before
        /// you close it (R73). If its number is another file by then, a source that was not removed is not called for that once the
        /// kernel has reported that to the loop, and a diagnostic says so.
        ///
        /// - Parameters:
        ///   - fileDescriptor: −1 makes a source that is called for a signal and its deadline alone, and that keeps its modes from being
        ///     empty (R68).
        ///   - events: at least one condition; `watch(for:)` changes it later.
        ///   - order: among the sources of one descriptor, lower is called first. Clamped to 32 bits.
        ///   - perform: called on the loop's thread with all reasons that there are: the conditions that hold, a signal, its deadline.
        /// - Throws: `invalid` without or with unknown conditions, and for a descriptor below −1.
        public init(
            fileDescriptor: CInt, events: Readiness = .read, order: Int = 0,
            perform: @escaping @Sendable (Readiness) -> Void
        ) throws {
            isOfObject = false
            unsafe super.init(
                try makeSource(descriptor: fileDescriptor, events: events, order: order, ready: perform), .source)
        }

        /// Makes a source that is driven by a counter, in no loop yet: a non-blocking eventfd, timerfd or similar, whose eight
        /// bytes the loop reads before each call (R69). So several writes cause one call, and a write in the closure causes one
        /// more. If another reader has read the counter, the closure is not called.
        ///
        /// - Throws: `invalid` if the descriptor is not such a counter, so that no bytes of a pipe or a socket are lost.
        public init(
            counter fileDescriptor: CInt, order: Int = 0, perform: @escaping @Sendable () -> Void
        ) throws {
            isOfObject = false
            let core = try unsafe makeSource(descriptor: fileDescriptor, events: .read, isCounter: true, order: order) {
                _ in
                perform()
            }
            unsafe super.init(core, .source)
        }

        /// Makes one for input, which is called for nothing before the first request.
        ///
        /// - Parameter onEndOfLoop: called when the thread of a loop that has it ends.
        package init(
            inputDescriptor: CInt, onEndOfLoop: @escaping @Sendable () -> Void,
            perform: @escaping @Sendable (Readiness) -> Void
        ) throws(RunLoop.Error) {
            isOfObject = false
            let core = try unsafe makeSource(
                descriptor: inputDescriptor, events: .read, order: 0, onEndOfLoop: onEndOfLoop, ready: perform)
            unsafe super.init(core, .source)
            pause()
        }

        /// Makes one of a source of the library for Linux.
        ///
        /// - Parameter core: the source, with one reference, which belongs to this object.
        package init(core: OpaquePointer) {
            isOfObject = true
            unsafe super.init(core, .source)
        }

        deinit {
            unsafe runloop_source_release(core)
        }

        /// Marks a source, so that the next iteration of a loop in one of its modes performs it; a descriptor source is called with
        /// `Readiness.signalled` (R72). The mark remains until then, even while the source is in no loop. It does not wake the
        /// loop (R54, R62): call `RunLoop.wakeUp()` after it. Ignored on an invalid source. Any thread, in a signal handler as
        /// well. O(loops it is in).
        public func signal() { unsafe runloop_source_signal(core) }

        /// Marks the source as `signal()` does, and wakes a loop for it. Any thread. O(loops it is in), one system call if the
        /// loop sleeps.
        public func signal(waking loop: RunLoop) {
            signal()
            loop.wakeUp()
        }

        /// Is it marked? `false` when invalid (R111). O(1).
        public var isSignalled: Bool { unsafe runloop_source_is_signalled(core) }

        /// The descriptor, as created. `nil` for a source that is signalled by hand, and for −1. O(1).
        public var fileDescriptor: CInt? {
            let descriptor = unsafe runloop_source_get_descriptor(core)
            return descriptor < 0 ? nil : descriptor
        }

        /// What an error is about.
        override var subject: String? { fileDescriptor.map { "descriptor \($0)" } }

        /// The requested conditions, as created or last set, also of an invalid source. Empty for a source that is signalled by
        /// hand. O(1).
        public var events: Readiness { unsafe Readiness(rawValue: runloop_source_get_events(core).rawValue) }

        /// Changes the requested conditions, in every mode of every loop that the source is in (R149).
        ///
        /// A socket can nearly always be written to, so a loop with a source that always requests `write` never sleeps. The source
        /// of a connection requests it only while output waits:
        ///
        ///     try source.watch(for: output.isEmpty ? .read : [.read, .write])
        ///
        /// Takes effect at the next wait, and in a current wait, which ends if a condition holds; in the source's own closure
        /// too. Other sources of the descriptor are not affected. Any thread; if two threads do it at once, one of them wins.
        /// O(loops it is in), and a system call each if the descriptor is to be watched for something else.
        ///
        /// - Parameter events: errors and hang-ups are reported in any case, unless there is no condition: that pauses the source, which
        ///   stays in its modes and is not called.
        /// - Throws: `invalid` for an invalidated source, for one that is driven by hand, a counter or a signal of the process,
        ///   and with unknown conditions; `badDescriptor` and the other errors of adding the source. After an error
        ///   the requested conditions are as before.
        public func watch(for events: Readiness) throws {
            if isOfObject { throw RunLoop.Error.invalid }
            try request(events)
        }

        /// The same, of an object as well, which asks for no less by itself unless it has to rest. Asking for nothing does not fail.
        package func request(_ events: Readiness) throws(RunLoop.Error) {
            let result = unsafe runloop_source_set_events(core, runloop_readiness(rawValue: events.rawValue))
            if result < 0 { throw RunLoop.Error(result: result, subject: subject) }
            // One without a descriptor was not called for what came meanwhile.
            if isOfObject && fileDescriptor == nil { unsafe runloop_source_wake(core) }
        }

        /// The instant at which a source with a descriptor, which may be −1, is called with `Readiness.due`: once, not before it,
        /// in a run of one of its modes, and together with other reasons (R152). So the source of a connection has its
        /// limit of time itself, without a timer that has to follow its modes and its end:
        ///
        ///     let source = try RunLoop.Source(fileDescriptor: descriptor) { readiness in
        ///         if readiness.contains(.read) {
        ///             advance()
        ///         } else if readiness.contains(.due) {
        ///             complain()
        ///         }
        ///     }
        ///     source.deadline = .now + .seconds(30)
        ///     try loop.add(source, forMode: .common)
        ///
        /// What the loop knows already is served before the kernel is asked, so a call with `due` alone does not say that nothing has
        /// arrived: look, before you give a peer up.
        ///
        /// `nil` if there is none, or it has had its call. Setting replaces it, and `nil` takes it back, also if it has passed and the
        /// source was not yet called for it. One that has passed is due at once. Also while the source is paused or in no loop; in its own
        /// closure too. If it is in several loops, one of them calls it. A loop that sleeps is re-armed, not woken. The closure of a
        /// counter is called without a reason being reported. Setting is ignored on an invalid source, and is a precondition failure for
        /// one that is signalled by hand, and for a signal of the process, a watch or an alarm. Any thread; an answer about another
        /// thread's loop may be out of date already. O(1), setting O(log deadlines) per mode.
        public var deadline: Instant? {
            get { unsafe Instant(nanosecondCount: runloop_source_get_deadline(core)) }
            set {
                precondition(!isOfObject, "A signal of the process, a watch or an alarm has no deadline.")
                do throws(RunLoop.Error) {
                    try setDeadline(newValue)
                } catch .outOfMemory {
                    outOfMemory()
                } catch {
                    precondition(!isValid, "A source that is signalled by hand has no deadline.")
                }
            }
        }

        package func setDeadline(_ instant: Instant?) throws(RunLoop.Error) {
            let result = unsafe runloop_source_set_deadline(core, instant?.nanoseconds ?? Nanoseconds.never)
            if result < 0 { throw RunLoop.Error(result: result, subject: subject) }
        }

        /// It is not called for its descriptor before the next request, and stays in its modes.
        package func pause() { unsafe runloop_source_set_events(core, runloop_readiness()) }
    }
}
#endif
