// ignored.c — the diagnostic about signals that are waited for and ignored.

#ifdef __linux__
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "process/catcher.h"
#include "runloop.h"

static void note(int number) {
    static _Atomic uint64_t noted;
    if (!runloop_diagnostics_are_enabled() || atomic_fetch_or(&noted, catcher_bit(number)) & catcher_bit(number))
        return;
    char text[512];
    int length = snprintf(
        text, sizeof text,
        "runloop: The signal %d is ignored in this process, so it is not caught, and nothing that waits for it "
        "happens. "
        "nohup ignores SIGHUP, and a shell SIGINT and SIGQUIT in what it starts in the background; a source that is "
        "made with `force` catches it nevertheless. (Written once. RUNLOOP_DIAGNOSTICS=0 in the environment, or "
        "runloop_set_diagnostics_enabled(false), disables diagnostics.)\n",
        number);
    ssize_t count = write(STDERR_FILENO, text, (size_t)length);
    (void)count; // There is nobody to whom its failure could be reported.
}

void runloop__note_ignored(uint64_t signals) {
    for (; signals; signals &= signals - 1)
        note(__builtin_ctzll(signals) + 1);
}
#endif // __linux__
