// report.h — what a report says, before it is written down in one of its forms.
#ifndef RUNLOOP_REPORT_PARTS_H
#define RUNLOOP_REPORT_PARTS_H

#include <stdio.h>

#include "runloop_diagnostics.h"

/// An item as it was found.
struct finding {
    runloop_item_kind kind;
    const void *item;
    char name[64];   ///< or ""
    bool is_due;     ///< a run would not sleep before it has been served
    int64_t wait_ns; ///< timers: how long until the date, negative if that has passed; RUNLOOP_NEVER
    int64_t interval_ns;
    int descriptor; ///< or -1
    runloop_readiness events, ready;
};

struct mode_findings {
    const char *name;
    bool is_common, is_current;
    struct finding *items;
    uint32_t count, capacity;
    uint32_t sources, timers, observers;
};

struct findings {
    runloop *loop;
    bool is_waiting, is_main, has_statistics;
    struct mode_findings *modes;
    size_t mode_count;
    const struct finding *longest; ///< the timer that is overdue for the longest time, or NULL
    runloop_statistics statistics;
};

void report_write_text(FILE *text, const struct findings *findings);
void report_write_json(FILE *text, const struct findings *findings);

#endif // RUNLOOP_REPORT_PARTS_H
