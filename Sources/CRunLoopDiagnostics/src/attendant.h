// attendant.h — the thread of the process that looks at loops from outside, as long as there is something to look at.
#ifndef RUNLOOP_ATTENDANT_H
#define RUNLOOP_ATTENDANT_H

#include "watch.h"

/// Any thread: makes the thread run, and keeps it. 0, -ENOMEM, -EMFILE, -EAGAIN. Each success is given back once.
int attendant_engage(void);
/// Any thread, in the process of the engagement.
void attendant_disengage(void);
/// Any thread: lets the thread look now. Async-signal-safe.
void attendant_wake(void);
/// Any thread that has engaged it for this watch: hands the watch over.
void attendant_give_watch(struct watch *watch);

#endif // RUNLOOP_ATTENDANT_H
