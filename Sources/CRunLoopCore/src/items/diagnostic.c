// diagnostic.c — texts for developers on standard error: each once per process, and none if diagnostics are disabled.

#include <sys/uio.h>
#include <unistd.h>

#include "items/items.h"

static const char before[] = "runloop: ";
static const char after[] =
    " (Written once. RUNLOOP_DIAGNOSTICS=0 in the environment, or runloop_set_diagnostics_enabled(false), "
    "disables diagnostics.)\n";

enum { UNKNOWN, ENABLED, DISABLED };
static _Atomic int setting;
static _Atomic bool is_written[RUNLOOP__DIAGNOSTICS];

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

bool runloop__diagnostic_is_due(enum runloop__diagnostic diagnostic) {
    return !atomic_load(&is_written[diagnostic]) && runloop_diagnostics_are_enabled();
}

void runloop__diagnostic_write(enum runloop__diagnostic diagnostic, const char *text) {
    if (!runloop_diagnostics_are_enabled() || atomic_exchange(&is_written[diagnostic], true))
        return;
    struct iovec parts[] = {
        {(void *)before, sizeof before - 1}, {(void *)text, strlen(text)}, {(void *)after, sizeof after - 1}};
    // A single write, so that no other output comes between. There is nobody to whom its failure could be reported.
    ssize_t count = writev(STDERR_FILENO, parts, sizeof parts / sizeof *parts);
    (void)count;
}
