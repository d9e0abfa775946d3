// diagnostic.c — diagnostics for developers on standard error: each once per process, and none if they are disabled.

#include <unistd.h>

#include "items/items.h"

static const char *const texts[] = {
    [DIAGNOSTIC_MAIN_QUEUE_WAITS] =
        "runloop: Work for the main dispatch queue or the main actor has been waiting for 250 ms, because the main "
        "loop is run from inside such work, and the queue goes on only when that has returned. Nest the run in a "
        "timer, a source or a task instead, or return and await. (Written once. RUNLOOP_DIAGNOSTICS=0 in the "
        "environment, or runloop_set_diagnostics_enabled(false), disables diagnostics.)\n",
};

enum { UNKNOWN, ENABLED, DISABLED };
static _Atomic int setting;
static _Atomic uint32_t written; ///< a bit for each diagnostic

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

bool runloop__diagnostic_is_due(enum diagnostic diagnostic) {
    return !(atomic_load(&written) & 1U << diagnostic) && runloop_diagnostics_are_enabled();
}

void runloop__diagnostic_write(enum diagnostic diagnostic) {
    if (!runloop_diagnostics_are_enabled() || (atomic_fetch_or(&written, 1U << diagnostic) & 1U << diagnostic))
        return;
    // One write, so that nothing comes between; nobody can be told that it failed.
    ssize_t count = write(STDERR_FILENO, texts[diagnostic], strlen(texts[diagnostic]));
    (void)count;
}
