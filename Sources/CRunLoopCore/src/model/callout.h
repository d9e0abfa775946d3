// callout.h — the only calls of user code on the loop's behalf, one for each kind, and what is reported of them to a tracer.
#ifndef RUNLOOP_CALLOUT_H
#define RUNLOOP_CALLOUT_H

#include "base/base.h"

WITHOUT_LOCK void runloop__IS_CALLING_OUT_TO_AN_OBSERVER(void (*observe)(runloop_observer *, runloop_activity, void *),
                                                         runloop_observer *observer, runloop_activity activity,
                                                         void *info);
WITHOUT_LOCK void runloop__IS_CALLING_OUT_TO_A_TIMER(void (*fire)(runloop_timer *, void *), runloop_timer *timer,
                                                     void *info);
WITHOUT_LOCK void runloop__IS_CALLING_OUT_TO_A_SIGNALLED_SOURCE(void (*perform)(runloop_source *, void *),
                                                                runloop_source *source, void *info);
WITHOUT_LOCK void runloop__IS_CALLING_OUT_TO_A_DESCRIPTOR_SOURCE(void (*ready)(runloop_source *, runloop_readiness,
                                                                               void *),
                                                                 runloop_source *source, runloop_readiness events,
                                                                 void *info);
WITHOUT_LOCK void runloop__IS_CALLING_OUT_TO_A_TASK(runloop_function function, void *info);
WITHOUT_LOCK void runloop__IS_SERVICING_THE_MAIN_DISPATCH_QUEUE(void (*drain)(void *));
WITHOUT_LOCK void runloop__IS_CALLING_OUT_TO_A_SOURCE_SCHEDULE(void (*function)(runloop_source *, runloop *,
                                                                                const char *, void *),
                                                               runloop_source *source, runloop *loop, const char *mode,
                                                               void *info);
WITHOUT_LOCK void runloop__IS_CALLING_OUT_TO_A_SOURCE_INVALIDATED(void (*invalidated)(runloop_source *, void *),
                                                                  runloop_source *source, void *info);
WITHOUT_LOCK void runloop__IS_CALLING_OUT_TO_A_VISITOR(void (*visit)(void *, runloop_item_kind, void *), void *context,
                                                       runloop_item_kind kind, void *item);
WITHOUT_LOCK int64_t runloop__IS_CALLING_OUT_TO_A_CLOCK(int64_t (*wait)(void *, int64_t), void *context,
                                                        int64_t duration_ns);
WITHOUT_LOCK void runloop__IS_CALLING_OUT_TO_A_CONTEXT_RELEASE(void (*release)(void *), void *info);
WITHOUT_LOCK void runloop__IS_CALLING_OUT_TO_A_TRACER(runloop_trace_point point, const void *object, int64_t value);

#ifdef RUNLOOP_USDT
#include <sys/sdt.h>
/// At each point, a probe for bpftrace and perf, with the arguments of a tracer.
#define PROBE(point, object, value) DTRACE_PROBE3(runloop, trace, point, object, value)
#else
#define PROBE(point, object, value) ((void)0)
#endif

static inline bool is_traced(void) {
    return __builtin_expect(runloop__this_thread.tracer.trace != NULL, 0);
}

/// Without a lock. Calls the thread's tracer, if there is one.
WITHOUT_LOCK static inline void trace_point(runloop_trace_point point, const void *object, int64_t value) {
    PROBE(point, object, value);
    if (is_traced())
        runloop__IS_CALLING_OUT_TO_A_TRACER(point, object, value);
}

/// A call-out that is reported to the tracer: `call` is one of the above.
#define TRACED(point, object, value, call)                                                                             \
    (trace_point(point, object, value), (call), trace_point(RUNLOOP_TRACE_RETURN, NULL, 0))

#endif // RUNLOOP_CALLOUT_H
