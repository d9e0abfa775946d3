import CRunLoopCore

// Nothing was ever added to this mode, so a run in it finishes at once.
let result = runloop_run_in_mode("com.example.empty", RUNLOOP_FOREVER, false)
precondition(runloop_result(rawValue: UInt32(result)) == .RUNLOOP_RESULT_FINISHED, "The run ended with \(result).")
