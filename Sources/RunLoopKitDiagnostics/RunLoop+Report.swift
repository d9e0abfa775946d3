#if os(Linux)
internal import CRunLoopDiagnostics
public import RunLoopKit

extension RunLoop {
    /// The form of a report on a loop: for people, with a stack, or for programs.
    ///
    ///     print(loop.report())
    ///     let forPrograms = loop.report(.json)
    public enum ReportForm: Sendable {
        /// Lines for people.
        case text
        /// One JSON object on one line, with the same content.
        case json
        /// Lines for people, with the stack of the loop's thread if it is in a call-out. A thread that waits is looked at from
        /// outside, and one that runs is asked by SIGURG.
        case textWithStack

        var core: runloop_report_form {
            switch self {
            case .text: .RUNLOOP_REPORT_TEXT
            case .json: .RUNLOOP_REPORT_JSON
            case .textWithStack: .RUNLOOP_REPORT_STACK
            }
        }
    }

    /// Returns an account of the loop for people or programs: whether it is asleep, busy or spinning, and what it calls now; which timers
    /// and sources keep a run in each mode going, by name; of what is signalled, due or ready, why it waits; and its statistics, if they
    /// were started. What it does now is known of a loop that is followed: for statistics, by a recording, by a watchdog, or for reports on
    /// signals or to a ``Publication``.
    ///
    ///     print(RunLoop.main.report())
    ///
    /// Any thread; the loop goes on meanwhile. O(items), and a system call for each mode. An empty text if memory ran out.
    public func report(_ form: ReportForm = .text) -> String {
        unsafe takeString(runloop_copy_report(core, form.core)) ?? ""
    }
}
#endif
