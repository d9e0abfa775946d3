// sentry.h — a loop with a signal looks now and then whether the signal is still caught.
#ifndef RUNLOOP_SENTRY_H
#define RUNLOOP_SENTRY_H

#include "runloop.h"

/// Zeros: none.
struct sentry {
    _Atomic(runloop_observer *) observer;
};

/// The object came into a mode, or left it.
void runloop__sentry_enter(struct sentry *sentry, runloop *loop, const char *mode);
void runloop__sentry_leave(struct sentry *sentry, runloop *loop, const char *mode);
/// Nobody calls the two any more.
void runloop__sentry_end(struct sentry *sentry);
/// Something was caught: the next look is due. Further ones are once a second at most.
void runloop__sentry_begin(void);

#endif // RUNLOOP_SENTRY_H
