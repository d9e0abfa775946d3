// callouts.c — the callbacks of one descriptor that are running.

#include "descriptors/callouts.h"

static _Thread_local char this_thread;

void cf__callouts_begin(struct cf_callouts *callouts) {
    bool is_only_here = callouts->running == 0 || callouts->caller == &this_thread;
    callouts->caller = is_only_here ? &this_thread : NULL;
    callouts->running++;
}

bool cf__callouts_end(struct cf_callouts *callouts, int *closing) {
    ASSERT(callouts->running > 0, "A callback has ended that did not begin.");
    bool is_last = --callouts->running == 0 && callouts->context_is_released;
    *closing = is_last ? callouts->closing : -1;
    return is_last;
}

bool cf__callouts_invalidate(struct cf_callouts *callouts, int descriptor, int *closing) {
    ASSERT(!callouts->context_is_released, "A descriptor is invalidated twice.");
    bool is_idle = callouts->running == 0, closes_now = is_idle || callouts->caller == &this_thread;
    callouts->context_is_released = true;
    callouts->closing = closes_now ? -1 : descriptor;
    *closing = closes_now ? descriptor : -1;
    return is_idle;
}
