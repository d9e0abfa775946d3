// callout.c — the only place that calls user code on the loop's behalf. One function per kind, never inlined and never a tail call, so
// that a backtrace, a profile or a crash report says what the loop was doing. No lock is held in any of them.
//
// An exception must not leave a call-out, since it would leave the loop in the middle of a run. So the unwind tables of this file go where
// debuggers read them and exceptions don't: an exception finds no way through these frames, and ends the program at once
// (std::terminate). The end of a thread by pthread_exit or by cancellation unwinds up to here and then goes on in libc.

#ifdef __linux__
#include "model/model.h"

__asm__(".cfi_sections .debug_frame");

// A callback in C++ takes a set of flags as a number (runloop_set.h), which clang's sanitizer takes for another type of function.
#if defined(__clang__)
#define CALLOUT __attribute__((noinline, used, no_sanitize("function")))
#else
#define CALLOUT __attribute__((noinline, used))
#endif
// Keeps the call before it from becoming a jump, which would take this function off the stack.
#define STAY_ON_THE_STACK() __asm__ volatile("")

CALLOUT void runloop__IS_CALLING_OUT_TO_AN_OBSERVER(void (*observe)(runloop_observer *, runloop_activity, void *),
                                                    runloop_observer *observer, runloop_activity activity, void *info) {
    ASSERT_NOT_LOCKED();
    observe(observer, activity, info);
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_TIMER(void (*fire)(runloop_timer *, void *), runloop_timer *timer,
                                                void *info) {
    ASSERT_NOT_LOCKED();
    fire(timer, info);
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_SIGNALLED_SOURCE(void (*perform)(runloop_source *, void *),
                                                           runloop_source *source, void *info) {
    ASSERT_NOT_LOCKED();
    perform(source, info);
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_DESCRIPTOR_SOURCE(void (*ready)(runloop_source *, runloop_readiness, void *),
                                                            runloop_source *source, runloop_readiness events,
                                                            void *info) {
    ASSERT_NOT_LOCKED();
    ready(source, events, info);
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_TASK(runloop_function function, void *info) {
    ASSERT_NOT_LOCKED();
    function(info);
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_SERVICING_THE_MAIN_DISPATCH_QUEUE(void (*drain)(void *)) {
    ASSERT_NOT_LOCKED();
    drain(NULL);
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_SOURCE_SCHEDULE(void (*function)(runloop_source *, runloop *, const char *,
                                                                           void *),
                                                          runloop_source *source, runloop *loop, const char *mode,
                                                          void *info) {
    ASSERT_NOT_LOCKED();
    runloop__this_thread.source_callouts++;
    function(source, loop, mode, info);
    runloop__this_thread.source_callouts--;
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_SOURCE_INVALIDATED(void (*invalidated)(runloop_source *, void *),
                                                             runloop_source *source, void *info) {
    ASSERT_NOT_LOCKED();
    invalidated(source, info);
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_VISITOR(void (*visit)(void *, runloop_item_kind, void *), void *context,
                                                  runloop_item_kind kind, void *item) {
    ASSERT_NOT_LOCKED();
    visit(context, kind, item);
    STAY_ON_THE_STACK();
}

CALLOUT int64_t runloop__IS_CALLING_OUT_TO_A_CLOCK(int64_t (*wait)(void *, int64_t), void *context,
                                                   int64_t duration_ns) {
    ASSERT_NOT_LOCKED();
    int64_t real_ns = wait(context, duration_ns);
    STAY_ON_THE_STACK();
    return real_ns;
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_TRACER(runloop_trace_point point, const void *object, int64_t value) {
    struct runloop__this_thread *thread = &runloop__this_thread;
    // Calls that the tracer makes into this library are not traced. A call-out that forked also returns in the child, where nobody
    // follows the loop.
    if (thread->is_tracing || is_from_parent_process(thread->loop))
        return;
    ASSERT_NOT_LOCKED();
    thread->is_tracing = true;
    thread->tracer.trace(thread->tracer.context, point, object, value);
    thread->is_tracing = false;
    STAY_ON_THE_STACK();
}

CALLOUT void runloop__IS_CALLING_OUT_TO_A_CONTEXT_RELEASE(void (*release)(void *), void *info) {
    ASSERT_NOT_LOCKED();
    release(info);
    STAY_ON_THE_STACK();
}
#endif // __linux__
