// callout.c — the only place that calls user code on the loop's behalf. One function per kind, never inlined and never a tail
// call, so that a backtrace, a profile or a crash report says what the loop was doing. No lock is held in any of them.

#include "internal.h"

#define CALLOUT __attribute__((noinline, used))
// Keeps the call before it from becoming a jump, which would take this function off the stack.
#define STAY_ON_THE_STACK() __asm__ volatile("")

CALLOUT void runloop__IS_CALLING_OUT_TO_AN_OBSERVER(runloop_observer *observer, runloop_activity activity) {
    if (observer->observe)
        observer->observe(observer, activity, observer->item.info);
    STAY_ON_THE_STACK();
}

static void call_closure(const runloop_timer *timer) {
    struct runloop__closure closure = {.function = (uintptr_t)timer->fire, .captured = timer->item.info};
    atomic_load_explicit(&runloop__object_hooks.call_closure, memory_order_relaxed)(&closure);
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_TIMER(runloop_timer *timer) {
    if (timer->item.is_closure)
        call_closure(timer);
    else if (timer->fire)
        timer->fire(timer, timer->item.info);
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_SIGNALLED_SOURCE(runloop_source *source) {
    if (source->call.perform)
        source->call.perform(source, source->item.info);
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_DESCRIPTOR_SOURCE(runloop_source *source, runloop_readiness events) {
    if (source->call.ready)
        source->call.ready(source, events, source->item.info);
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_PERFORMED_FUNCTION(runloop_function function, void *info) {
    function(info);
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_SERVICING_THE_MAIN_DISPATCH_QUEUE(void (*drain)(void *)) {
    drain(NULL);
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_SOURCE_SCHEDULE(runloop_source *source, runloop *loop, const char *mode) {
    runloop__portless(source)->schedule(source, loop, mode, source->item.info);
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_SOURCE_CANCEL(runloop_source *source, runloop *loop, const char *mode) {
    runloop__portless(source)->cancel(source, loop, mode, source->item.info);
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_CONTEXT_RELEASE(void (*release)(void *), void *info) {
    release(info);
    STAY_ON_THE_STACK();
}
