// diagnostic.c — texts for developers on standard error: each once per process, or for each name of a mode, and none if diagnostics are
// disabled.

#ifdef __linux__
#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>
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
        const char *wish = secure_getenv("RUNLOOP_DIAGNOSTICS");
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

static void write_note(const char *text) {
    struct iovec parts[] = {
        {(void *)before, sizeof before - 1}, {(void *)text, strlen(text)}, {(void *)after, sizeof after - 1}};
    // A single write, so that no other output comes between, and not the function, which is a cancellation point. There is nobody to whom its
    // failure could be reported.
    long count = syscall(SYS_writev, STDERR_FILENO, parts, sizeof parts / sizeof *parts);
    (void)count;
}

void runloop__diagnostic_write(enum runloop__diagnostic diagnostic, const char *text) {
    if (runloop_diagnostics_are_enabled() && !atomic_exchange(&is_written[diagnostic], true))
        write_note(text);
}

/// Which of the loop's numbers, and in `name` what its source is called, unless that was removed meanwhile.
HOLDS_LOCK static int take_closed(runloop *loop, char *name, size_t size) {
    int descriptor = loop->registrations.closed - 1;
    loop->registrations.closed = 0;
    news_note(loop);
    const struct registration *registration = registration_find(loop, descriptor);
    const struct item *item = registration && registration->retired ? &registration->retired->source->item : NULL;
    const char *text = item ? atomic_load_explicit(&item->name, memory_order_acquire) : NULL;
    uint32_t line = text ? atomic_load_explicit(&item->line, memory_order_relaxed) : 0;
    if (!text)
        snprintf(name, size, "a source");
    else if (line == 0)
        snprintf(name, size, "the source “%.96s”", text);
    else
        snprintf(name, size, "the source “%.96s:%" PRIu32 "”", text, line);
    return descriptor;
}

void runloop__note_closed(runloop *loop) {
    char text[400], name[160];
    loop_lock(loop);
    int descriptor = take_closed(loop, name, sizeof name);
    loop_unlock(loop);
    if (!runloop__diagnostic_is_due(RUNLOOP__CLOSED_TOO_EARLY))
        return;
    snprintf(text, sizeof text,
             "The descriptor %d was closed while %s watched it, and its number stands for no file or another one. "
             "That source is not called for it any more. Remove or invalidate a source first, and then close its "
             "descriptor.",
             descriptor, name);
    runloop__diagnostic_write(RUNLOOP__CLOSED_TOO_EARLY, text);
}

//===-- runs in modes that don't exist -------------------------------------------------------------------------------===//
#ifdef RUNLOOP_DEBUG

/// The hashes of the names that were reported. When there is no more space, nothing is reported: such a program means it.
enum { MOST_NAMES = 16, TEXT_SIZE = 1024 };
static _Atomic uint64_t noted_names[MOST_NAMES];

static bool is_first_of_name(const char *name) {
    uint64_t hash = 14695981039346656037U;
    for (const char *letter = name; *letter; letter++)
        hash = (hash ^ (unsigned char)*letter) * 1099511628211U;
    for (size_t i = 0; i < MOST_NAMES; i++) {
        uint64_t noted = 0;
        if (atomic_compare_exchange_strong(&noted_names[i], &noted, hash))
            return true;
        if (noted == hash)
            return false;
    }
    return false;
}

static bool has_items(runloop *loop) {
    for (struct mode *mode = atomic_load(&loop->modes); mode; mode = atomic_load(&mode->next))
        if (mode_has_items(mode))
            return true;
    return false;
}

void runloop__note_unknown_mode(runloop *loop, const char *name) {
    // With nothing in any mode, nothing is missed by the run.
    if (!name || !runloop_diagnostics_are_enabled() || !has_items(loop) || !is_first_of_name(name))
        return;
    char text[TEXT_SIZE];
    const char *reason = is_common_name(name) ? "that stands for all common modes and is not itself a mode"
                                              : "nothing was ever added to it";
    int length = snprintf(text, sizeof text,
                          "A run in the mode \"%.200s\" has ended at once: %s. This loop has the modes", name, reason);
    const char *separator = " ";
    for (struct mode *mode = atomic_load(&loop->modes); mode; mode = atomic_load(&mode->next)) {
        size_t space = sizeof text - (size_t)length;
        int added = snprintf(text + length, space, "%s\"%s\"", separator, mode->name);
        // A name that does not fit would be cut: the list ends there.
        if (added < 0 || (size_t)added + 2 > space)
            break;
        length += added;
        separator = ", ";
    }
    text[length] = '.';
    text[length + 1] = 0;
    write_note(text);
}

#endif
#endif // __linux__
