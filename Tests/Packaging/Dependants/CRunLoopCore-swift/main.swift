import CRunLoopCore

// Nothing was ever added to this mode, so a run in it finishes at once.
let result = runloop_run_in_mode("com.example.empty", RUNLOOP_FOREVER, false)
// Sets of flags are option sets.
let activities: runloop_activity = [.RUNLOOP_ACTIVITY_ENTRY, .RUNLOOP_ACTIVITY_EXIT]
precondition(activities.rawValue == 0x81)
precondition(runloop_result(rawValue: UInt32(result)) == .RUNLOOP_RESULT_FINISHED, "The run ended with \(result).")
