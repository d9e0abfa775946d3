#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop {
    /// A signal of the process, as it arrived: the argument of a source that catches it.
    ///
    ///     for try await signal in loop.signals(SIGHUP) {
    ///         print("\(signal.count) times, by process \(signal.sender?.process ?? 0)")
    ///     }
    public struct Signal: Hashable, Sendable {
        /// Which signal arrived, SIGTERM for instance.
        public let number: CInt
        /// How many arrivals this one stands for, at least one. Each call of the signal's handler is counted. The kernel merges
        /// standard signals before that: one that is pending is not added again.
        public let count: Int
        /// The sender of the last of them. `nil`: the kernel, the terminal for instance.
        public let sender: Sender?
        /// What `sigqueue` sent along with a real-time signal, else 0.
        public let value: Int

        /// A process, and the user that it belonged to. For SIGCHLD, the child.
        ///
        ///     for try await signal in loop.signals(SIGHUP) {
        ///         if let sender = signal.sender, sender.user == geteuid() {
        ///             print("process \(sender.process) of this user has sent it")
        ///         }
        ///     }
        public struct Sender: Hashable, Sendable {
            /// The process number (pid) of the sender.
            public let process: Int32
            /// The real user ID of the sender.
            public let user: UInt32
        }

        init(_ arrival: runloop_signal_arrival) {
            number = arrival.number
            count = Int(clamping: arrival.count)
            sender = arrival.pid == 0 ? nil : Sender(process: arrival.pid, user: arrival.uid)
            value = arrival.value
        }

        /// Ends the process as the signal does by default, so that the parent process sees what ended it. The first process of a
        /// container (PID 1), for which the kernel drops such a signal, exits with 128 + `number`, as which a shell reports that end.
        /// Nothing else is done before: no closure, no function of `atexit`, and what was printed and not flushed is lost. Any thread. A
        /// precondition failure for a signal that does not end a process by default.
        public static func endProcess(by number: CInt) -> Never {
            runloop_end_process_by_signal(number)
            preconditionFailure("Signal \(number) does not end a process by default.")
        }
    }

    /// The arrivals of a signal, as a sequence: `for try await signal in loop.signals(SIGHUP) { … }`.
    ///
    /// The signal is caught from the first call of `next()` to the end of the iteration, and the mode is not empty for as long.
    /// What arrives while the consumer is busy is counted, and the next element has the count. Otherwise as a source that catches
    /// the signal, and as `readiness(of:for:inMode:)`. Any thread, any task.
    ///
    /// - Parameters:
    ///   - number: SIGHUP, for instance.
    ///   - evenIfIgnored: as for a source.
    /// - Returns: a sequence that throws the errors of making a source for the signal, and of adding it.
    public func signals(
        _ number: CInt, evenIfIgnored: Bool = false, inMode mode: Mode = .common
    ) -> some AsyncSequence<Signal, any Swift.Error> & Sendable {
        SourceSequence<Signal>(loop: self, mode: mode) { yield in
            try Source(signal: number, evenIfIgnored: evenIfIgnored, perform: yield)
        }
    }
}

extension RunLoop.Source {
    /// Makes a source that catches a signal of the process, SIGTERM for instance, in no loop yet. The signal loses its usual
    /// effect, from this call until the source is invalidated or freed.
    ///
    ///     let source = try RunLoop.Source(signal: SIGHUP) { signal in
    ///         print("\(signal.count) by \(String(describing: signal.sender))")
    ///     }
    ///     try loop.add(source, forMode: .common)
    ///
    /// The closure is called on the loop's thread, in the source's modes: once for all arrivals since the last call, or for each
    /// arrival of a real-time signal. An arrival waits while the source is in no loop or the loop runs another mode. Any thread
    /// may receive the signal; at least one must not block it, and none is blocked by this. If a signal has several sources, all of
    /// them are called; a source in several loops is called by one of them.
    ///
    /// Where libdispatch catches the signal as well (a DispatchSource, swift-service-lifecycle), in either order, both receive it; ours
    /// has the count then, and no sender and no value. If something else takes the signal later, `signal(SIGINT, SIG_IGN)` for one, a
    /// diagnostic on standard error names the owner, within a second while the loop is awake now and then.
    ///
    /// A handler that was installed before is called as well. When the last source for the signal ends, the former handling is
    /// restored. A program that this process starts inherits none of this, and in a forked child the signal has its former effect.
    ///
    /// - Parameters:
    ///   - signal: its number.
    ///   - evenIfIgnored: also catches a signal that is ignored, as SIGHUP is in a program that was started by `nohup`. Otherwise it is left
    ///     ignored, the closure is not called, and a diagnostic on standard error says so.
    ///   - perform: called on the loop's thread; may make any call.
    /// - Throws: `invalid` for a number that is not a signal, for SIGKILL and SIGSTOP, and for faults of a thread such as
    ///   SIGSEGV, which would recur at once; `tooManyDescriptors`, since a source needs two.
    public convenience init(
        signal: CInt, evenIfIgnored: Bool = false, perform: @escaping @Sendable (RunLoop.Signal) -> Void
    ) throws {
        unsafe try self.init(receiver: ClosureBox(perform), of: .system, subject: "signal \(signal)") {
            context, caught in
            var config = unsafe runloop_signal_config()
            unsafe config.context = context
            unsafe config.number = signal
            unsafe config.force = evenIfIgnored
            unsafe config.receive = { _, arrival, info in
                guard let arrival = unsafe arrival else { return }
                unsafe withInfo(info, as: ClosureBox<RunLoop.Signal>.self) {
                    unsafe $0.call(RunLoop.Signal(arrival.pointee))
                }
            }
            return unsafe runloop_signal_create(&config, &caught)
        }
    }
}
#endif
