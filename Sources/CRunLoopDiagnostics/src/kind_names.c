// kind_names.c — the words for kinds, in the order of their numbers.

#include "kind_names.h"

#include <stdio.h>

#include "runloop_statistics.h"

const char *const item_kind_names[] = {"signalled source", "descriptor source", "timer", "observer"};
const char *const callout_kind_names[] = {"observer",          "timer", "signalled source",
                                          "descriptor source", "task",  "main queue"};

void write_callout(char *text, size_t size, int kind, const char *name) {
    if (kind < 0)
        snprintf(text, size, "no call-out");
    else if (kind == RUNLOOP_CALLOUT_MAIN_QUEUE)
        snprintf(text, size, "work of the main dispatch queue");
    else if (name[0])
        snprintf(text, size, "the %s “%s”", callout_kind_names[kind], name);
    else
        snprintf(text, size, "%s %s without a name", kind == RUNLOOP_CALLOUT_OBSERVER ? "an" : "a",
                 callout_kind_names[kind]);
}
