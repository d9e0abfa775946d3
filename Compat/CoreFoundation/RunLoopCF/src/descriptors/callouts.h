// callouts.h — the callbacks of one descriptor that are running, and what waits for the last of them when it is invalidated meanwhile.
#ifndef RUNLOOP_CF_CALLOUTS_H
#define RUNLOOP_CF_CALLOUTS_H

#include "base/base.h"

/// All zeros at first. The lock of its owner guards it, and is held in each of the calls below.
struct cf_callouts {
    int running;
    const void *caller;       ///< the one thread that runs them; NULL if there are several
    int closing;              ///< after the invalidation: the descriptor that the last of them closes, or -1
    bool context_is_released; ///< or the last of them will release it
};

void cf__callouts_begin(struct cf_callouts *callouts);
/// True if the caller releases the context now. Before that it closes `*closing`, unless that is -1.
bool cf__callouts_end(struct cf_callouts *callouts, int *closing);
/// Once. The descriptor, or -1 if it stays open, is closed at once, or by the last callback of another thread, which may be using it.
/// True if the caller releases the context now. Before that it closes `*closing`, unless that is -1.
bool cf__callouts_invalidate(struct cf_callouts *callouts, int descriptor, int *closing);

#endif // RUNLOOP_CF_CALLOUTS_H
