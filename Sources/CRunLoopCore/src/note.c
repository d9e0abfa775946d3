// note.c — notes to the developer on standard error: each once per process, and none if they are switched off.

#include <unistd.h>

#include "internal.h"

static const char *const texts[] = {
    [NOTE_MAIN_QUEUE_WAITS] =
        "runloop: Work for the main dispatch queue or the main actor has been waiting for 250 ms, because the main "
        "loop is run from "
        "inside such work, and the queue goes on only when that has returned. Nest the run in a timer, a source or a "
        "performed "
        "function instead, or return and await. (Said once. RUNLOOP_NOTES=0 in the environment, or "
        "runloop_set_notes_enabled(false), turns notes off.)\n",
};

enum { UNKNOWN, ENABLED, DISABLED };
static _Atomic int setting;
static _Atomic uint32_t written; ///< a bit for each note

bool runloop_notes_are_enabled(void) {
    int value = atomic_load(&setting);
    if (value == UNKNOWN) {
        const char *wish = getenv("RUNLOOP_NOTES");
        int found = wish && strcmp(wish, "0") == 0 ? DISABLED : ENABLED;
        // What a thread has set meanwhile stays.
        if (atomic_compare_exchange_strong(&setting, &value, found))
            value = found;
    }
    return value == ENABLED;
}

void runloop_set_notes_enabled(bool enabled) {
    atomic_store(&setting, enabled ? ENABLED : DISABLED);
}

bool runloop__note_is_due(enum note note) {
    return !(atomic_load(&written) & 1U << note) && runloop_notes_are_enabled();
}

void runloop__note(enum note note) {
    if (!runloop_notes_are_enabled() || atomic_fetch_or(&written, 1U << note) & 1U << note)
        return;
    // One write, so that nothing comes between; nobody can be told that it failed.
    ssize_t count = write(STDERR_FILENO, texts[note], strlen(texts[note]));
    (void)count;
}
