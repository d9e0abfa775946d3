#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop {
    /// A process whose end is awaited, a child of this one as a rule.
    ///
    ///     let child = try RunLoop.Child(adopting: pid, on: loop)
    ///     let exit = try await child.exit()
    ///     if !exit.isSuccess { complain() }
    ///
    /// An *adopted* child is one that nobody else waits for: it is reaped when it has ended, it alone and once. The loop keeps that
    /// duty if the object is freed before. A *watched* process belongs to somebody else, to Foundation's `Process` or to
    /// Subprocess, and is never reaped; when the object is freed, it isn't watched any more.
    ///
    /// The process is held by a pidfd and not by its number, which may be used again. There is no SIGCHLD and no thread. The end is
    /// noticed on the loop's thread, when that runs in the child's mode.
    public final class Child: Sendable {
        /// How a process ended, and what it used.
        ///
        ///     let exit = try await child.exit()
        ///     if !exit.isSuccess { print("has failed:", exit.reason) }
        ///     if let usage = exit.usage { print(usage.userTime + usage.systemTime) }
        public struct Exit: Hashable, Sendable {
            /// How a process ended: by its own exit, or by a signal.
            ///
            ///     switch try await child.exit().reason {
            ///     case .exited(let status): print("status", status)
            ///     case .signalled(let number, _): print("ended by signal", number)
            ///     case .unknown: print("somebody else has waited for it")
            ///     }
            public enum Reason: Hashable, Sendable {
                /// By `exit`, or by the end of `main`, with a status of 0 to 255.
                case exited(CInt)
                /// By a signal.
                case signalled(CInt, dumpedCore: Bool)
                /// It has ended, and it is not known how: it is not a child of this process, or somebody else waited for it first, or
                /// SIGCHLD is ignored. Linux 6.15 and later know once it was waited for, by any process.
                case unknown
            }

            /// What a process used, with the children that it waited for.
            ///
            ///     if let usage = try await child.exit().usage {
            ///         print("processor:", usage.userTime + usage.systemTime)
            ///         if let bytes = usage.peakMemory { print("memory:", bytes) }
            ///     }
            public struct Usage: Hashable, Sendable {
                /// The processor time in the program itself.
                public let userTime: Duration
                /// The processor time in the kernel on its behalf.
                public let systemTime: Duration
                /// The most memory that it had resident, in bytes. `nil`: not known, and at most the most that this process has ever had.
                /// Linux counts what a new process shares with its parent before it executes its program, and says only the larger of the
                /// two.
                public let peakMemory: Int?
            }

            /// The process number (pid) that it had; `nil` if the child was made from a pidfd.
            public let process: Int32?
            /// How the process ended: by its own exit, or by a signal.
            public let reason: Reason
            /// `nil` if it was not our child, or somebody else waited for it first.
            public let usage: Usage?

            /// Whether the process exited by itself with status 0.
            public var isSuccess: Bool { reason == .exited(0) }
        }

        let source: Source
        let end: ChildEnd
        /// Of a child that was started.
        let pipes: ChildPipes?
        private let isAdopted: Bool

        /// Adopts a child of this process that nobody else waits for. Any thread.
        ///
        /// - Parameters:
        ///   - process: its pid.
        ///   - loop: which notices the end.
        ///   - mode: in which it does so.
        ///   - onExit: called once on the loop's thread, before tasks that wait in `exit()` continue. At once, if it has ended already.
        /// - Throws: `notAChild` if it is not a child of this process, or was reaped; `noSuchProcess`; `unsupported` before Linux 5.4,
        ///   and in sandboxes without pidfds; `invalid`; `tooManyDescriptors`; `loopFinished`, `inheritedAcrossFork`.
        public convenience init(
            adopting process: Int32, on loop: RunLoop, inMode mode: Mode = .common,
            onExit: (@Sendable (Exit) -> Void)? = nil
        ) throws {
            try self.init(Process(pid: process, reaps: true), loop, mode, onExit)
        }

        /// Watches a process that belongs to somebody else. Otherwise as adopting it. A pid that is not one of our children may name
        /// another process by now: then pass a pidfd.
        public convenience init(
            watching process: Int32, on loop: RunLoop, inMode mode: Mode = .common,
            onExit: (@Sendable (Exit) -> Void)? = nil
        ) throws {
            try self.init(Process(pid: process, reaps: false), loop, mode, onExit)
        }

        /// Watches the process of a pidfd, which remains the caller's and may be closed afterwards. Otherwise as with a pid.
        ///
        /// - Throws: also `badDescriptor` if it is not a pidfd.
        public convenience init(
            borrowing pidfd: CInt, on loop: RunLoop, inMode mode: Mode = .common,
            onExit: (@Sendable (Exit) -> Void)? = nil
        ) throws {
            try self.init(Process(pidfd: pidfd), loop, mode, onExit)
        }

        private convenience init(
            _ process: Process, _ loop: RunLoop, _ mode: Mode, _ onExit: (@Sendable (Exit) -> Void)?
        ) throws(RunLoop.Error) {
            let end = ChildEnd(onExit)
            try self.init(Source(process, end), end, nil, isAdopted: process.reaps, loop, mode)
        }

        init(
            _ source: Source, _ end: ChildEnd, _ pipes: ChildPipes?, isAdopted: Bool, _ loop: RunLoop, _ mode: Mode
        ) throws(RunLoop.Error) {
            (self.source, self.end, self.pipes, self.isAdopted) = (source, end, pipes, isAdopted)
            do throws(RunLoop.Error) {
                try loop.admit(source, to: mode)
            } catch {
                if pipes != nil { source.killChild() }
                throw error
            }
        }

        deinit {
            pipes?.release()
            if isAdopted { return }
            end.settle(.failure(CancellationError()))
            source.invalidate()
        }

        /// Waits for the end of the process. Any number of tasks may wait; each gets the same. The tasks block no thread.
        ///
        /// A child that writes to a pipe which is full waits until it is read: if nobody does, the child has no end, and after a moment a
        /// sentence on standard error says so. So read or collect its output first, or at the same time.
        ///
        /// - Throws: `CancellationError` if the task is cancelled before; `loopFinished` if the loop's thread ends before.
        public func exit(isolation actor: isolated (any Actor)? = #isolation) async throws -> Exit {
            try await end.wait(isolation: actor)
        }

        /// How the child ended, if it has by now; `nil` before the loop has noticed. Any thread. O(1).
        public var exitIfEnded: Exit? { try? end.outcome?.get() }

        /// Sends a signal to this process and to no other one, even if its pid is used again. Any thread.
        ///
        /// - Throws: `noSuchProcess` if it has been reaped, `notPermitted`, and `invalid` for no such signal.
        public func send(_ signal: CInt) throws {
            let result = unsafe runloop_child_send_signal(source.core, signal)
            if result < 0 {
                let subject = unsafe "signal \(signal) to process \(runloop_child_get_pid(source.core))"
                throw RunLoop.Error(result: result, of: .system, subject: subject)
            }
        }

        /// The pidfd, for calls that take one. It is the child's: closed with it, and not by its user. O(1).
        public var fileDescriptor: CInt { unsafe runloop_source_get_descriptor(source.core) }
    }

    /// The ends of children, in the order in which the loop notices them; it ends with the last: `for await exit in try loop.exits(…)`.
    ///
    /// All are adopted before this returns, or none, and reaped even if nobody iterates. Ends before the thread of the loop ends.
    /// Any thread. O(children).
    ///
    /// - Parameter processes: the pids of children that nobody else waits for.
    /// - Throws: as adopting each.
    public func exits(
        adopting processes: [Int32], inMode mode: Mode = .common
    ) throws -> some AsyncSequence<Child.Exit, Never> & Sendable {
        let exits = Mailbox<Child.Exit>(keeping: .all)
        let end = EndOfSequence(exits)
        let children = try processes.map { process in
            try Source(Process(pid: process, reaps: true), ChildEnd { end.mailbox.put($0) })
        }
        do {
            for child in children { try add(child, forMode: mode) }
        } catch {
            for child in children { child.invalidate() }
            throw error
        }
        return PulledSequence(origin: exits) { exits, actor async throws(Never) in await exits.next(isolation: actor) }
    }
}

extension RunLoop.Child: Hashable {
    /// Are both the same object? Two objects for one process are not equal.
    public static func == (first: RunLoop.Child, second: RunLoop.Child) -> Bool { first === second }

    /// Hashes the identity of the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The process that a child is.
private struct Process {
    var pid: Int32 = 0
    var pidfd: CInt = -1
    var reaps = false
}

extension RunLoop.Source {
    /// Makes a child, whose end settles `end`; so does that of its loop.
    convenience init(
        _ end: ChildEnd, create: (runloop_child_config) throws(RunLoop.Error) -> OpaquePointer
    ) throws(RunLoop.Error) {
        var config = unsafe runloop_child_config()
        unsafe config.context.info = retainedInfo(end)
        unsafe config.context.release = releaseInfo
        unsafe config.exited = { child, exit, info in
            guard let exit = unsafe exit else { return }
            let end = unsafe RunLoop.Child.Exit(runloop_child_get_pid(child), exit.pointee)
            unsafe withInfo(info, as: ChildEnd.self) { $0.settle(.success(end)) }
        }
        unsafe config.cancel = { child, _, _, info in
            unsafe withInfoAtEndOfLoop(child, info, as: ChildEnd.self) {
                $0.settle(.failure(RunLoop.Error.loopFinished))
            }
        }
        let core: OpaquePointer
        do throws(RunLoop.Error) {
            unsafe core = try unsafe create(config)
        } catch {
            unsafe releaseInfo(config.context.info)
            throw error
        }
        unsafe self.init(core: core)
    }

    fileprivate convenience init(_ process: Process, _ end: ChildEnd) throws(RunLoop.Error) {
        unsafe try self.init(end) { config throws(RunLoop.Error) in
            var config = unsafe config
            unsafe config.pid = process.pid
            unsafe config.pidfd = process.pidfd
            unsafe config.reaps = process.reaps
            var core: OpaquePointer?
            // Without a pid, the core expects a pidfd.
            let result =
                unsafe process.pid == 0 && process.pidfd < 0
                ? -ErrorNumber.invalid : runloop_child_create(&config, &core)
            if result == 0, let core = unsafe core { return unsafe core }
            let subject = process.pidfd < 0 ? "process \(process.pid)" : "descriptor \(process.pidfd)"
            throw RunLoop.Error(result: result, of: .child, subject: subject)
        }
    }

    /// Ends a child by signals with pauses between them.
    func endChild(by steps: [runloop_child_step], ofGroup: Bool) throws(RunLoop.Error) {
        let result = unsafe runloop_child_end_by(core, steps, steps.count, ofGroup)
        if result < 0 {
            throw RunLoop.Error(result: result, of: .system, subject: unsafe "process \(runloop_child_get_pid(core))")
        }
    }

    /// Ends a child that was started and that nobody else will wait for.
    func killChild() {
        unsafe runloop_child_send_signal(core, SignalNumber.kill)
        unsafe reap(runloop_child_get_pid(core))
    }
}

extension RunLoop.Child.Exit {
    init(_ pid: Int32, _ exit: runloop_child_exit) {
        process = pid == 0 ? nil : pid
        reason =
            switch exit.end {
            case .RUNLOOP_CHILD_EXITED: .exited(exit.status)
            case .RUNLOOP_CHILD_SIGNALLED: .signalled(exit.status, dumpedCore: exit.dumped_core)
            case .RUNLOOP_CHILD_UNKNOWN: .unknown
            }
        usage =
            exit.has_usage
            ? Usage(
                userTime: .nanoseconds(exit.user_ns), systemTime: .nanoseconds(exit.system_ns),
                peakMemory: exit.peak_memory_bytes == 0 ? nil : Int(exit.peak_memory_bytes)) : nil
    }
}
#endif
