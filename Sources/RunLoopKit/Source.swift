extension RunLoop {
    /// Something that happens outside the loop, and for which the loop calls a closure: signalled by hand, by the state of a
    /// file descriptor, or by a signal of the process.
    ///
    /// A source can be in several modes of several loops; each loop calls it on its own thread, hence the `@Sendable`
    /// closures. A loop keeps the sources it has. The closures are freed with the source, not when it becomes invalid
    /// (R57): a closure that uses its own source captures it weakly.
    public final class Source: Sendable {
        /// Conditions of a descriptor. The values are those of EPOLLIN, EPOLLPRI, …
        public struct Readiness: OptionSet, Hashable, Sendable {
            /// The bits.
            public let rawValue: UInt32

            /// Any bits; asking for unknown ones is an error when the source is made.
            public init(rawValue: UInt32) {
                self.rawValue = rawValue
            }

            /// Something can be read, or a connection accepted, or the end has been reached.
            public static let read = Readiness(rawValue: 0x001)
            /// Something urgent can be read.
            public static let priority = Readiness(rawValue: 0x002)
            /// Something can be written.
            public static let write = Readiness(rawValue: 0x004)
            /// An error is pending. Told to every source of the descriptor, asked for or not.
            public static let error = Readiness(rawValue: 0x008)
            /// The other side is gone. Told to every source; asking for it adds "has shut down its half".
            public static let hangUp = Readiness(rawValue: 0x010)
        }

        let core: SourceCore
        private let caughtSignal: CaughtSignal?
        /// Its closure is the main actor's, so only the main loop may have it. Set while it is made, and never again.
        nonisolated(unsafe) var isMainActors = false

        /// Makes a source that is signalled by hand, in no loop yet (R56).
        ///
        /// - Parameters:
        ///   - order: lower performs first; equal ones in the order of their first signal (R63). Clamped to 32 bits.
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
            core = SourceCore(order: Int32(clamping: order), box: box)
            caughtSignal = nil
        }

        /// Makes a source that is driven by a descriptor, in no loop yet. Whether the descriptor can be waited for shows
        /// when the source is added.
        ///
        /// Called, one descriptor per iteration (R43), for as long as a condition it asked for holds: the owner of the
        /// descriptor reads and writes until that is over. The descriptor should be non-blocking: when somebody else took
        /// what was ready, the closure may be called once for nothing. The loop never closes it; remove or invalidate the
        /// source before closing it (R73).
        ///
        /// - Parameters:
        ///   - fileDescriptor: −1 makes a member of its modes that is never called, which keeps them from being empty
        ///     (R68).
        ///   - events: at least one condition; `setEvents(_:)` changes it later.
        ///   - order: among the sources of one descriptor, lower goes first. Clamped to 32 bits.
        ///   - perform: called on the loop's thread with the conditions that hold.
        /// - Throws: `invalid` without or with unknown conditions, and for a descriptor below −1.
        public init(
            fileDescriptor: CInt, events: Readiness = .read, order: Int = 0,
            perform: @escaping @Sendable (Readiness) -> Void
        ) throws(RunLoop.Error) {
            core = try SourceCore(
                descriptor: fileDescriptor, events: events.rawValue, counter: false, order: Int32(clamping: order),
                box: DescriptorBox(perform))
            caughtSignal = nil
        }

        /// Makes a source that is driven by a counter, in no loop yet: a non-blocking eventfd, timerfd or alike, whose eight
        /// bytes the loop reads before each call (R69). So several writes are one call, and a write in the closure is one
        /// more. If somebody else read the counter, the closure is not called.
        ///
        /// - Throws: `invalid` if the descriptor is not such a counter, so that no byte of a pipe or a socket is ever eaten.
        public init(
            counter fileDescriptor: CInt, order: Int = 0, perform: @escaping @Sendable () -> Void
        ) throws(RunLoop.Error) {
            core = try SourceCore(
                descriptor: fileDescriptor, events: Readiness.read.rawValue, counter: true,
                order: Int32(clamping: order), box: DescriptorBox { _ in perform() })
            caughtSignal = nil
        }

        /// Makes a source that catches a signal of the process, SIGTERM for instance, in no loop yet. What the signal would do
        /// otherwise does not happen any more, from this call until the source is invalidated or freed; when the last source
        /// for the signal is, the handling is again what it was before the first.
        ///
        /// Called on the loop's thread, in its modes, for the arrivals since the last call: several are one, and one that
        /// comes before the source is in a loop, or while the loop runs another mode, waits. Which thread the signal
        /// interrupts makes no difference, as long as some thread does not block it. Several sources for a signal are all
        /// called; one source in several loops is called by one of them. A program that this process starts does not inherit
        /// any of it; in a forked child the signal is caught, and nothing called.
        ///
        /// - Parameters:
        ///   - signal: its number.
        ///   - order: as for a descriptor.
        ///   - perform: called on the loop's thread; may make any call.
        /// - Throws: `invalid` for a number that is no signal, for SIGKILL and SIGSTOP, and for the faults of a thread
        ///   (SIGSEGV and its like), to which nobody can return; `tooManyDescriptors`. A source needs two descriptors, which
        ///   are kept for later sources and never closed.
        public init(
            signal: CInt, order: Int = 0, perform: @escaping @Sendable () -> Void
        ) throws(RunLoop.Error) {
            let caught = try CaughtSignal(signal)
            core = try SourceCore(
                descriptor: caught.descriptor, events: Readiness.read.rawValue, counter: false,
                order: Int32(clamping: order), box: DescriptorBox { _ in if caught.take() { perform() } })
            caughtSignal = caught
        }

        deinit {
            core.release()
        }

        /// Marks a source that is signalled by hand: it performs in the next pass of a loop that has it in the running mode.
        /// The mark stays until then, also in no loop. Does not wake (R54, R62): follow it with `RunLoop.wakeUp()`. Ignored
        /// when invalid; without effect on a descriptor source (R72). Any thread. O(loops it is in).
        public func signal() { core.signal() }

        /// Marks the source as `signal()` does, and wakes a loop for it. Any thread. O(loops it is in), one system call if the
        /// loop sleeps.
        public func signal(waking loop: RunLoop) {
            signal()
            loop.wakeUp()
        }

        /// Is it marked? `false` when invalid (R111). O(1).
        public var isSignalled: Bool { core.isSignalled }

        /// Its place among other sources, as created. O(1).
        public var order: Int { Int(core.order) }

        /// The descriptor, as created. `nil` for a source that is signalled by hand, and for −1. O(1).
        public var fileDescriptor: CInt? { core.descriptor < 0 ? nil : core.descriptor }

        /// The conditions it asks for, as created or last set, also of an invalid source. Empty for a source that is signalled
        /// by hand. O(1).
        public var events: Readiness { Readiness(rawValue: core.events) }

        /// Asks for other conditions than so far, in every mode of every loop that the source is in (R149).
        ///
        /// A socket can nearly always be written to, so a loop in which a source asks for `write` all the time never sleeps.
        /// The one source of a connection asks for it only while output waits:
        ///
        ///     try source.setEvents(output.isEmpty ? .read : [.read, .write])
        ///
        /// Counts from the next wait on, and in a wait under way, which a condition that holds ends; in the source's own
        /// closure too. Other sources of the descriptor are not concerned. Any thread; if two do it at once, one of them
        /// counts. O(loops it is in), and a system call each if what the descriptor is watched for changes.
        ///
        /// - Parameter events: at least one condition. Errors and hang-ups are told in any case.
        /// - Throws: `invalid` for an invalidated source, one that is not driven by a descriptor, a counter, a signal of the
        ///   process, and without or with unknown conditions; `badDescriptor` and what else adding the source can. After an
        ///   error it asks for what it did before.
        public func setEvents(_ events: Readiness) throws(RunLoop.Error) {
            if caughtSignal != nil { throw .invalid }
            let result = core.setEvents(events.rawValue)
            if result < 0 { throw RunLoop.Error(result: result) }
        }

        /// Can it still be called? O(1).
        public var isValid: Bool { core.isValid }

        /// Removes the source from every mode of every loop, running `onCancel` for each, for ever (R67). Twice is once.
        /// Allowed in its own closure, which goes on. Any thread; does not wait for a closure that runs on another thread
        /// (R119). The descriptor may be closed afterwards. O(modes it is in).
        public func invalidate() {
            withExtendedLifetime(self) { core.invalidate() }
            caughtSignal?.end()
        }
    }

    /// Adds a source to a mode, or to all common modes, now and later (R18). Any thread. Makes the mode if needed. Twice is
    /// once. Wakes nobody, but a descriptor that is ready does (R54). `onSchedule` runs on the calling thread. O(1) per
    /// mode, and a system call for a descriptor.
    ///
    /// - Throws: `invalid` for an invalidated source; `loopFinished`, `inheritedAcrossFork`, `outOfMemory`; for a descriptor
    ///   `badDescriptor`, `permissionDenied`, `tooManyWatches`. After an error the source is nowhere it was not before.
    public func add(_ source: Source, forMode mode: Mode) throws(RunLoop.Error) {
        checkIsolation(source.isMainActors)
        let result = core.add(source.core, mode.name)
        if result < 0 { throw Error(result: result) }
    }

    /// Removes a source from a mode, or from all common modes (R19, R20); `onCancel` runs on the calling thread. It stays
    /// valid and may be added again. Nothing if it is not there. Ends the sleep in a mode that it leaves empty. Any thread;
    /// in its own closure too. O(1) per mode, and a system call for a descriptor.
    public func remove(_ source: Source, forMode mode: Mode) { core.remove(source.core, mode.name) }

    /// Is the source in the mode? For `.common`: is it one of the common items (R20)? O(1).
    public func contains(_ source: Source, inMode mode: Mode) -> Bool { core.contains(source.core, mode.name) }
}
