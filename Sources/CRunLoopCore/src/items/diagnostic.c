// diagnostic.c — the diagnostic for developers on standard error: once per process, and none if diagnostics are disabled.

#include <unistd.h>

#include "items/items.h"

static const char main_queue_waits[] =
    "runloop: Work for the main dispatch queue or the main actor has been waiting for 250 ms, because the main "
    "loop is run from inside such work, and the queue goes on only when that has returned. Nest the run in a "
    "timer, a source or a task instead, or return and await. (Written once. RUNLOOP_DIAGNOSTICS=0 in the "
    "environment, or runloop_set_diagnostics_enabled(false), disables diagnostics.)\n";

enum { UNKNOWN, ENABLED, DISABLED };
static _Atomic int setting;
static _Atomic bool is_written;

bool runloop_diagnostics_are_enabled(void) {
    int value = atomic_load(&setting);
    if (value == UNKNOWN) {
        const char *wish = getenv("RUNLOOP_DIAGNOSTICS");
        int found = wish && strcmp(wish, "0") == 0 ? DISABLED : ENABLED;
        // What a thread has set meanwhile stays.
        if (atomic_compare_exchange_strong(&setting, &value, found))
            value = found;
    }
    return value == ENABLED;
}

void runloop_set_diagnostics_enabled(bool enabled) {
    atomic_store(&setting, enabled ? ENABLED : DISABLED);
}

bool runloop__diagnostic_is_due(void) {
    return !atomic_load(&is_written) && runloop_diagnostics_are_enabled();
}

void runloop__diagnostic_write(void) {
    if (!runloop_diagnostics_are_enabled() || atomic_exchange(&is_written, true))
        return;
    // One write, so that nothing comes between; nobody can be told that it failed.
    ssize_t count = write(STDERR_FILENO, main_queue_waits, sizeof main_queue_waits - 1);
    (void)count;
}
