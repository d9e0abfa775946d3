// cf.c — the CFRunLoop of the Swift toolchain.

#include <CoreFoundation/CoreFoundation.h>

#include "../bench.h"
#include "main_queue.h"

static const char *version(void) {
    return PEER_VERSION;
}

const struct peer_traits peer_traits = {
    .name = "cf",
    .version = version,
    .has = PEER_WAKES | PEER_SIGNALS | PEER_SUBMITS | PEER_WATCHES | PEER_TIMERS | PEER_POLLS | PEER_LIMITS |
           PEER_TOLERATES | PEER_REPEATS | PEER_MODES | PEER_MAIN_QUEUE,
    .reads_counters = true,
    .timers_at_most = 10000,
};

static CFRunLoopRef cf(struct peer_loop *loop) {
    return (CFRunLoopRef)loop;
}

struct peer_loop *peer_open(void) {
    return (struct peer_loop *)CFRunLoopGetCurrent();
}

void peer_close(struct peer_loop *loop) {
    (void)loop; // It ends with its thread.
}

void peer_run(struct peer_loop *loop, int64_t limit_ns) {
    (void)loop;
    CFRunLoopRunInMode(kCFRunLoopDefaultMode, limit_ns == PEER_FOREVER ? 1e10 : (double)limit_ns / 1e9, false);
}

void peer_stop(struct peer_loop *loop) {
    CFRunLoopStop(cf(loop));
}

void peer_poll(struct peer_loop *loop) {
    (void)loop;
    CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false);
}

//===-- sources ------------------------------------------------------------------------------------------------------===//

struct peer_wake {
    CFRunLoopRef loop;
    CFRunLoopSourceRef source;
};

static void perform_wake(void *info) {
    peer_calls.on_wake(info);
}

static void perform_signal(void *info) {
    peer_calls.on_signal(info);
}

static CFRunLoopSourceRef add_source(CFRunLoopRef loop, void (*perform)(void *), void *info, CFStringRef mode) {
    CFRunLoopSourceContext context = {.info = info, .perform = perform};
    CFRunLoopSourceRef source = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopAddSource(loop, source, mode);
    return source;
}

struct peer_wake *peer_wake_create(struct peer_loop *loop, void *info) {
    struct peer_wake *wake = malloc(sizeof *wake);
    *wake = (struct peer_wake){cf(loop), add_source(cf(loop), perform_wake, info, kCFRunLoopDefaultMode)};
    return wake;
}

void peer_wake_send(struct peer_wake *wake) {
    CFRunLoopSourceSignal(wake->source);
    CFRunLoopWakeUp(wake->loop);
}

struct peer_signal *peer_signal_create(struct peer_loop *loop, void *info) {
    return (struct peer_signal *)add_source(cf(loop), perform_signal, info, kCFRunLoopDefaultMode);
}

void peer_signal_send(struct peer_signal *signal) {
    CFRunLoopSourceSignal((CFRunLoopSourceRef)signal);
}

void peer_submit(struct peer_loop *loop, void (*function)(void *info), void *info) {
    CFRunLoopPerformBlock(cf(loop), kCFRunLoopDefaultMode, ^{
      function(info);
    });
    CFRunLoopWakeUp(cf(loop));
}

struct peer_watch {
    int descriptor;
    void *info;
};

static int port(void *info) {
    return ((struct peer_watch *)info)->descriptor;
}

static void ready(void *info) {
    peer_calls.on_ready(((struct peer_watch *)info)->info);
}

struct peer_watch *peer_watch_add(struct peer_loop *loop, int descriptor, void *info) {
    struct peer_watch *watch = malloc(sizeof *watch);
    *watch = (struct peer_watch){descriptor, info};
    CFRunLoopSourceContext1 context = {.version = 1, .info = watch, .getPort = port, .perform = ready};
    CFRunLoopSourceRef source = CFRunLoopSourceCreate(NULL, 0, (CFRunLoopSourceContext *)&context);
    CFRunLoopAddSource(cf(loop), source, kCFRunLoopDefaultMode);
    return watch;
}

//===-- timers -------------------------------------------------------------------------------------------------------===//

static void fire(CFRunLoopTimerRef timer, void *info) {
    (void)timer;
    peer_calls.on_timer(info);
}

struct peer_timer *peer_timer_start(struct peer_loop *loop, int64_t delay_ns, void *info) {
    CFRunLoopTimerContext context = {.info = info};
    CFAbsoluteTime date = CFAbsoluteTimeGetCurrent() + (double)delay_ns / 1e9;
    CFRunLoopTimerRef timer =
        CFRunLoopTimerCreate(NULL, date, (double)peer_calls.interval_ns / 1e9, 0, 0, fire, &context);
    if (peer_calls.tolerance_ns)
        CFRunLoopTimerSetTolerance(timer, (double)peer_calls.tolerance_ns / 1e9);
    CFRunLoopAddTimer(cf(loop), timer, kCFRunLoopDefaultMode);
    return (struct peer_timer *)timer;
}

void peer_timer_move(struct peer_timer *timer, int64_t delay_ns) {
    CFRunLoopTimerSetNextFireDate((CFRunLoopTimerRef)timer, CFAbsoluteTimeGetCurrent() + (double)delay_ns / 1e9);
}

void peer_timer_cancel(struct peer_timer *timer) {
    CFRunLoopTimerInvalidate((CFRunLoopTimerRef)timer);
    CFRelease(timer);
}

//===-- modes --------------------------------------------------------------------------------------------------------===//

static void observe(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info) {
    (void)observer, (void)activity;
    ((void (*)(void))(uintptr_t)info)();
}

void peer_observe_all(struct peer_loop *loop, void (*function)(void)) {
    CFRunLoopObserverContext context = {.info = (void *)(uintptr_t)function};
    CFRunLoopObserverRef observer = CFRunLoopObserverCreate(NULL, kCFRunLoopAllActivities, true, 0, observe, &context);
    CFRunLoopAddObserver(cf(loop), observer, kCFRunLoopDefaultMode);
}

static CFStringRef mode_name(unsigned number) {
    return CFStringCreateWithFormat(NULL, NULL, CFSTR("mode %u"), number);
}

static void ignore(void *info) {
    (void)info;
}

void peer_add_modes(struct peer_loop *loop, unsigned count, bool are_common) {
    for (unsigned i = 0; i < count; i++) {
        CFStringRef mode = mode_name(i);
        add_source(cf(loop), ignore, NULL, mode);
        if (are_common)
            CFRunLoopAddCommonMode(cf(loop), mode);
    }
}

void peer_add_remove_common(struct peer_loop *loop) {
    static CFRunLoopSourceRef source;
    if (!source) {
        CFRunLoopSourceContext context = {.perform = ignore};
        source = CFRunLoopSourceCreate(NULL, 0, &context);
    }
    CFRunLoopAddSource(cf(loop), source, kCFRunLoopCommonModes);
    CFRunLoopRemoveSource(cf(loop), source, kCFRunLoopCommonModes);
}

void peer_run_inner(struct peer_loop *loop) {
    static CFStringRef inner;
    if (!inner) {
        inner = mode_name(0);
        peer_add_modes(loop, 1, false);
    }
    CFRunLoopRunInMode(inner, 0, false);
}
