// sentry.h — a loop with a signal looks now and then whether the signal is still caught.
#ifndef RUNLOOP_SENTRY_H
#define RUNLOOP_SENTRY_H

#include "base/probe.h"

/// Of each object that catches signals. It has no info.
extern const struct probe_kind runloop__sentry;
/// Something was caught: the next look is due. Further ones before a sleep are once a second at most.
void runloop__sentry_begin(void);

#endif // RUNLOOP_SENTRY_H
