// signal_notes.h — diagnostics about signals that are waited for and do not arrive. Each once for each signal.
#ifndef RUNLOOP_SIGNAL_NOTES_H
#define RUNLOOP_SIGNAL_NOTES_H

#include <stddef.h>
#include <stdint.h>

/// They are ignored, and so not caught.
void runloop__note_ignored(uint64_t signals);
/// They were caught, and something else has replaced the handler.
void runloop__note_taken(uint64_t signals);
/// They are caught; those that every thread of the process has blocked are noted. Reads /proc only if the calling thread has one blocked.
void runloop__note_blocked(uint64_t signals);
/// Signals, of which some are caught, as malloc gives it: "signal 2 (SIGINT) caught, signal 15 (SIGTERM) ignored". NULL without memory.
char *runloop__describe_signals(uint64_t signals, uint64_t caught);

#endif // RUNLOOP_SIGNAL_NOTES_H
