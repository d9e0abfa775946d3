// callout.h — a call-out as a tracer sees it, and what its item is called, copied while that lives.
#ifndef RUNLOOP_KNOWN_CALLOUT_H
#define RUNLOOP_KNOWN_CALLOUT_H

#include <stdio.h>
#include <string.h>

#include "runloop_statistics.h"

_Static_assert(RUNLOOP_TRACE_TIMER - RUNLOOP_TRACE_OBSERVER == RUNLOOP_CALLOUT_TIMER &&
                   RUNLOOP_TRACE_SIGNALLED - RUNLOOP_TRACE_OBSERVER == RUNLOOP_CALLOUT_SIGNALLED_SOURCE &&
                   RUNLOOP_TRACE_DESCRIPTOR - RUNLOOP_TRACE_OBSERVER == RUNLOOP_CALLOUT_DESCRIPTOR_SOURCE &&
                   RUNLOOP_TRACE_TASK - RUNLOOP_TRACE_OBSERVER == RUNLOOP_CALLOUT_TASK &&
                   RUNLOOP_TRACE_MAIN_QUEUE - RUNLOOP_TRACE_OBSERVER == RUNLOOP_CALLOUT_MAIN_QUEUE,
               "The beginnings of call-outs are the last points, in the order of the kinds.");

struct callout {
    int kind;      ///< RUNLOOP_CALLOUT_…; -1: none
    uint32_t line; ///< behind the name, unless 0
    const void *object;
    const char *mode; ///< of the run that it is in, or NULL; such a text is never freed
    int64_t begin_ns;
    char name[48]; ///< the end of it, if it is too long; or ""
};

/// The words for kinds, by runloop_item_kind and by RUNLOOP_CALLOUT_….
extern const char *const item_kind_names[], *const callout_kind_names[];

/// The kind of the call-out that begins, RUNLOOP_CALLOUT_…; -1: none does.
static inline int callout_kind(runloop_trace_point point) {
    return point >= RUNLOOP_TRACE_OBSERVER ? (int)(point - RUNLOOP_TRACE_OBSERVER) : -1;
}

/// A name and its line, unless that is 0, as one text: the end of it, if it is too long, since the end of a path says more than its beginning.
static inline void copy_name(char *copy, size_t size, const char *name, uint32_t line) {
    char number[16] = "";
    size_t digits = line ? (size_t)snprintf(number, sizeof number, ":%u", line) : 0;
    size_t space = size - 1 - digits, length = strlen(name), cut = length > space ? length - space : 0;
    // Not inside a letter of UTF-8.
    while (cut > 0 && (name[cut] & 0xc0) == 0x80)
        cut++;
    memcpy(copy, name + cut, length - cut);
    memcpy(copy + length - cut, number, digits + 1);
}

/// The name of an item, and its line; "" without a name, and for what is no item.
static inline const char *callout_name(int kind, const void *object, uint32_t *line) {
    void *item = (void *)(uintptr_t)object;
    const char *name = NULL;
    *line = 0;
    switch (kind) {
    case RUNLOOP_CALLOUT_OBSERVER: name = runloop_observer_get_name(item, line); break;
    case RUNLOOP_CALLOUT_TIMER: name = runloop_timer_get_name(item, line); break;
    case RUNLOOP_CALLOUT_SIGNALLED_SOURCE:
    case RUNLOOP_CALLOUT_DESCRIPTOR_SOURCE: name = runloop_source_get_name(item, line); break;
    }
    *line = name ? *line : 0;
    return name ? name : "";
}

/// The name with its line; of a task, its function's, if that is exported, for which it waits for a dlopen that is under way.
void callout_write_name(const struct callout *callout, char *text, size_t size);
/// The same as a part of a sentence: "the timer “main.c:12”", or "a task without a name".
void callout_write(const struct callout *callout, char *text, size_t size);

#endif // RUNLOOP_KNOWN_CALLOUT_H
