import CRunLoopCore
import CRunLoopDiagnostics
import CRunLoopForeign
import CRunLoopLinux

// A function of each library in C.
precondition(runloop_run_in_mode(RUNLOOP_DEFAULT_MODE, 0, false) > 0)
precondition(!runloop_foreign_source_is_valid(nil))
precondition(!runloop_signal_is_caught(nil))
precondition(runloop_statistics_start() == 0)
runloop_statistics_stop()
print("the libraries in C are there")
