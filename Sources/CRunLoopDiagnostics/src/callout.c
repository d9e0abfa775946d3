// callout.c — call-outs in words.

#ifdef __linux__
#include "callout.h"

#include <dlfcn.h>

const char *const item_kind_names[] = {"signalled source", "descriptor source", "timer", "observer"};
const char *const callout_kind_names[] = {"observer",          "timer", "signalled source",
                                          "descriptor source", "task",  "main queue"};

void callout_write_name(const struct callout *callout, char *text, size_t size) {
    Dl_info found;
    if (callout->kind == RUNLOOP_CALLOUT_TASK && dladdr(callout->object, &found) && found.dli_sname)
        snprintf(text, size, "%s", found.dli_sname);
    else
        copy_name(text, size, callout->name, callout->line);
}

void callout_write(const struct callout *callout, char *text, size_t size) {
    int kind = callout->kind;
    char name[96];
    callout_write_name(callout, name, sizeof name);
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
#endif // __linux__
