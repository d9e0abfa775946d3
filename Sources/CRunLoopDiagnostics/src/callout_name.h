// callout_name.h — what a call-out is of, and what its item is called, copied while that lives.
#ifndef RUNLOOP_CALLOUT_NAME_H
#define RUNLOOP_CALLOUT_NAME_H

#include <stdio.h>
#include <string.h>

#include "runloop_statistics.h"

_Static_assert(RUNLOOP_TRACE_TIMER - RUNLOOP_TRACE_OBSERVER == RUNLOOP_CALLOUT_TIMER &&
                   RUNLOOP_TRACE_SIGNALLED - RUNLOOP_TRACE_OBSERVER == RUNLOOP_CALLOUT_SIGNALLED_SOURCE &&
                   RUNLOOP_TRACE_DESCRIPTOR - RUNLOOP_TRACE_OBSERVER == RUNLOOP_CALLOUT_DESCRIPTOR_SOURCE &&
                   RUNLOOP_TRACE_TASK - RUNLOOP_TRACE_OBSERVER == RUNLOOP_CALLOUT_TASK &&
                   RUNLOOP_TRACE_MAIN_QUEUE - RUNLOOP_TRACE_OBSERVER == RUNLOOP_CALLOUT_MAIN_QUEUE,
               "The beginnings of call-outs are the last points, in the order of the kinds.");

/// The kind of the call-out that begins, RUNLOOP_CALLOUT_…; -1: none does.
static inline int callout_kind(runloop_trace_point point) {
    return point >= RUNLOOP_TRACE_OBSERVER ? (int)(point - RUNLOOP_TRACE_OBSERVER) : -1;
}

/// The name of an item, and its line; NULL without a name, and for what is no item.
static inline const char *callout_name(int kind, const void *object, uint32_t *line) {
    void *item = (void *)(uintptr_t)object;
    *line = 0;
    switch (kind) {
    case RUNLOOP_CALLOUT_OBSERVER: return runloop_observer_get_name(item, line);
    case RUNLOOP_CALLOUT_TIMER: return runloop_timer_get_name(item, line);
    case RUNLOOP_CALLOUT_SIGNALLED_SOURCE:
    case RUNLOOP_CALLOUT_DESCRIPTOR_SOURCE: return runloop_source_get_name(item, line);
    default: return NULL;
    }
}

/// A name and its line as one text: the end of it, if it is too long, since the end of a path says more than its beginning.
static inline void copy_name(char *copy, size_t size, const char *name, uint32_t line) {
    char number[16] = "";
    if (name && line)
        snprintf(number, sizeof number, ":%u", line);
    size_t space = size - 1 - strlen(number), length = name ? strlen(name) : 0;
    snprintf(copy, size, "%s%s", name ? name + (length > space ? length - space : 0) : "", number);
}

static inline void copy_callout_name(char *copy, size_t size, int kind, const void *object) {
    uint32_t line;
    const char *name = callout_name(kind, object, &line);
    copy_name(copy, size, name, line);
}

#endif // RUNLOOP_CALLOUT_NAME_H
