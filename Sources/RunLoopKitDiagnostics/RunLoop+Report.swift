internal import CRunLoopDiagnostics
public import RunLoopKit

extension RunLoop {
    /// The form of a report.
    public enum ReportForm: Sendable {
        /// Lines for people.
        case text
        /// One JSON object on one line, with the same content.
        case json
    }

    /// Explains the loop: why it is alive, that is which timers and sources keep a run in each mode going, by name; why it doesn't sleep,
    /// that is what is signalled, due or ready now; what of that has waited longest; and its statistics, if they were started.
    ///
    ///     print(RunLoop.main.report())
    ///
    /// Any thread; the loop goes on meanwhile. O(items), and a system call for each mode. An empty text if memory ran out.
    public func report(_ form: ReportForm = .text) -> String {
        let text = runloop_copy_report(core, form == .json ? .RUNLOOP_REPORT_JSON : .RUNLOOP_REPORT_TEXT)
        return takeString(text) ?? ""
    }
}
