#if os(Linux)
internal import CRunLoopDiagnostics
public import RunLoopKit

extension RunLoop {
    /// What a watchdog has noticed.
    ///
    ///     try loop.startWatchdog(hangLimit: .milliseconds(250)) { diagnosis in
    ///         // On the watchdog's thread.
    ///         print(diagnosis)
    ///         for line in diagnosis.stack { print("    \(line)") }
    ///     }
    public struct Diagnosis: Sendable, CustomStringConvertible {
        /// The kinds of findings that a watchdog reports.
        ///
        ///     try loop.startWatchdog(hangLimit: .milliseconds(250)) { diagnosis in
        ///         if diagnosis.kind == .hangEnded { print(diagnosis.duration) }
        ///     }
        public enum Kind: Sendable {
            /// The loop has not come back for the limit. Once per hang.
            case hang
            /// It is back. The duration is that of the whole hang.
            case hangEnded
            /// As many iterations without a sleep as the limit says. Once per spin.
            case spin
            /// Work for the main dispatch queue and the main actor has waited for the limit, while the main loop ran inside such work, or
            /// in a mode that isn't common. Once until it is served.
            case starvation
        }

        /// What the watchdog has noticed: a hang or its end, a spin, or a starved main queue.
        public let kind: Kind
        /// The kind of the call-out that it is about, if it is about one.
        public let callout: Statistics.Callout?
        /// The name of its item, if it has one. Of a spin, these two are of what was called most.
        public let name: String?
        /// The mode in which the loop runs; `nil` if it runs in none.
        public let mode: Mode?
        /// How long the hang, the wait or the spin is, or the hang was.
        public let duration: Duration
        /// How many iterations the spin has had; otherwise zero.
        public let iterations: Int
        /// Which share of the spin's calls were of that item, from 0 to 1; otherwise zero.
        public let share: Double
        /// The functions of the loop's thread, of a hang and of a starvation, the innermost first: each with its file and line, or its
        /// library. Empty if they can't be had.
        public let stack: [String]
        /// All of that but the stack, as a sentence.
        public let description: String

        fileprivate init(_ diagnosis: runloop_diagnosis) {
            kind =
                switch unsafe diagnosis.kind {
                case .RUNLOOP_DIAGNOSIS_HANG: .hang
                case .RUNLOOP_DIAGNOSIS_HANG_ENDED: .hangEnded
                case .RUNLOOP_DIAGNOSIS_SPIN: .spin
                default: .starvation
                }
            callout = unsafe Statistics.Callout(rawValue: Int(diagnosis.callout))
            let text = unsafe diagnosis.name.map { unsafe String(cString: $0) } ?? ""
            name = text.isEmpty ? nil : text
            mode = unsafe diagnosis.mode.map { unsafe Mode(name: $0) }
            duration = unsafe .nanoseconds(diagnosis.duration_ns)
            iterations = unsafe Int(clamping: diagnosis.iterations)
            share = unsafe Double(diagnosis.share_percent) / 100
            stack =
                unsafe diagnosis.stack.map { unsafe String(cString: $0).split(separator: "\n").map(String.init) } ?? []
            description = unsafe diagnosis.sentence.map { unsafe String(cString: $0) } ?? ""
        }
    }

    /// Has a thread of its own watch the loop, in place of the watchdog that it had: for hangs, which keep it from coming back to the next
    /// iteration or to sleep, and for spins, many iterations without a sleep, whatever is served; and the main loop for runs that leave
    /// work for the main dispatch queue waiting. An iteration then reads the clock some times.
    ///
    ///     try RunLoop.main.startWatchdog(hangLimit: .milliseconds(250))
    ///
    /// A loop that sleeps, and a nested run that iterates, don't hang; nor does a loop whose machine was suspended or whose program
    /// was stopped by a debugger. No wait ends early because of a report: the stack of a thread that waits in the kernel is read from
    /// outside, and only one that runs is asked for its stack by SIGURG, unless the program handles that signal itself. A hang that ends
    /// with the process, by `exit`, is reported before that. A forked child has no watchdog. On the loop's own thread only: anything else
    /// is a precondition failure, as is a limit below ten milliseconds or one iteration, or no limit at all. O(1).
    ///
    /// - Parameters:
    ///   - hangLimit: how long the loop may be busy, or the main dispatch queue's work wait. Noticed up to a quarter of it late, at most a
    ///     second. `nil`: neither is reported.
    ///   - spinLimit: how many iterations may follow one another without a sleep: more than a peak takes, such as 100,000. A loop with more
    ///     to do than it can does not sleep either; the shares in the report distinguish the two. `nil`: spins are not reported.
    ///   - includesStack: whether reports have the functions that the loop's thread is in. Without them no signal is used, and no symbols
    ///     are read.
    ///   - report: receives the finding, on the watchdog's thread. Without it, a line is written to standard error.
    /// - Throws: `tooManyThreads`, `tooManyDescriptors`, `outOfMemory`. Then the loop has no watchdog, not even the one that it had.
    public func startWatchdog(
        hangLimit: Duration?, spinLimit: Int? = nil, includesStack: Bool = true,
        report: (@Sendable (Diagnosis) -> Void)? = nil
    ) throws {
        precondition(isCurrent, "The watchdog of a run loop is started on its own thread.")
        precondition(hangLimit != nil || spinLimit != nil, "A watchdog has a limit for hangs, for spins, or for both.")
        precondition(hangLimit.map { $0 >= .milliseconds(10) } ?? true, "A hang is longer than ten milliseconds.")
        precondition(spinLimit.map { $0 > 0 } ?? true, "A spin has at least one iteration.")
        runloop_watchdog_stop()
        var config = unsafe runloop_watchdog_config()
        unsafe config.limit_ns = hangLimit.map { Nanoseconds.of($0) } ?? 0
        unsafe config.spin_limit = spinLimit.map { UInt32(clamping: $0) } ?? 0
        unsafe config.omits_stack = !includesStack
        let context = unsafe report.map { unsafe retainedInfo(ClosureBox($0)) }
        unsafe config.handler.context = context
        if unsafe context != nil {
            unsafe config.handler.report = { context, diagnosis in
                guard let diagnosis = unsafe diagnosis else { return }
                unsafe withInfo(context, as: ClosureBox<Diagnosis>.self) {
                    unsafe $0.call(Diagnosis(diagnosis.pointee))
                }
            }
            unsafe config.handler.release = releaseInfo
        }
        let result = unsafe runloop_watchdog_start(&config)
        if result < 0 {
            unsafe releaseInfo(context)
            throw Error(result: result, of: .thread)
        }
    }

    /// No longer watches the loop. A report under way may still be made after this. No effect if it isn't watched. On the loop's own
    /// thread only: anything else is a precondition failure. O(1).
    public func stopWatchdog() {
        precondition(isCurrent, "The watchdog of a run loop is stopped on its own thread.")
        runloop_watchdog_stop()
    }

    /// From now on, reports are written to standard error whenever the process gets a signal: on this thread's loop, and on all that have
    /// statistics, a recording or a watchdog. A thread of its own writes them, so it works when loops hang.
    ///
    ///     // And then, in a shell: kill -USR1 PID.
    ///     try RunLoop.writeReports(onSignal: SIGUSR1)
    ///
    /// Lasts as long as the process; a forked child asks again if it wants. A second call changes the form. Any thread with a loop. O(1).
    ///
    /// - Throws: `invalid` for a signal that does not exist or can't be caught; `inUse`, because the program handles it itself;
    ///   `tooManyThreads`, `tooManyDescriptors`, `outOfMemory`.
    public static func writeReports(onSignal number: CInt, form: ReportForm = .text) throws {
        let result = runloop_report_on_signal(number, form.core)
        if result < 0 { throw Error(result: result, of: .thread, subject: "signal \(number)") }
    }
}
#endif
