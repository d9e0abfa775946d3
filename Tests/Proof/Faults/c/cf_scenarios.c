// cf_scenarios.c — CoreFoundation's names. Its calls give no errors: what could not be made is NULL, and what could not be added is not there.
#include "faults.h"

#include <CoreFoundation/CoreFoundation.h>

static _Atomic int calls;

#define NEEDS(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return told_of("runloop_cf", -ENOMEM);                                                                     \
    } while (0)

static void end_object(const void *object) {
    CFTypeRef released = *(const CFTypeRef *)object;
    if (released)
        CFRelease(released);
}
#define OBJECT __attribute__((cleanup(end_object)))

static CFStringRef mode(void) {
    return CFSTR("faults");
}

static bool run_until(int expected) {
    int64_t end_ns = runloop_now_ns() + 3 * SECOND;
    while (calls < expected && runloop_now_ns() < end_ns) {
        if (CFRunLoopRunInMode(mode(), 0.02, true) == kCFRunLoopRunFinished)
            usleep(1000);
    }
    return calls >= expected;
}

static void fire(CFRunLoopTimerRef timer, void *info) {
    (void)timer, (void)info;
    calls++;
}

static void perform(void *info) {
    (void)info;
    calls++;
}

static enum outcome a_timer_and_a_source(void) {
    calls = 0;
    begin_faults();
    CFRunLoopRef loop = CFRunLoopGetCurrent();
    NEEDS(loop);
    OBJECT CFRunLoopTimerRef timer =
        CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent() + 0.001, 0, 0, 0, fire, NULL);
    NEEDS(timer);
    CFRunLoopSourceContext context = {.perform = perform};
    OBJECT CFRunLoopSourceRef source = CFRunLoopSourceCreate(NULL, 0, &context);
    NEEDS(source);
    CFRunLoopAddTimer(loop, timer, mode());
    CFRunLoopAddSource(loop, source, mode());
    bool has_both = CFRunLoopContainsTimer(loop, timer, mode()) && CFRunLoopContainsSource(loop, source, mode());
    CFRunLoopSourceSignal(source);
    bool has_run = !has_both || run_until(2);
    CFRunLoopTimerInvalidate(timer);
    CFRunLoopSourceInvalidate(source);
    return has_both ? outcome_of(has_run, 0) : told_of("runloop_cf", -ENOMEM);
}

static _Atomic bool has_ended;

static void receive(CFSocketRef socket, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)socket, (void)type, (void)address, (void)info;
    // An error is reported as the end is: by no data.
    has_ended = data && CFDataGetLength(data) == 0;
    calls++;
}

static enum outcome a_socket(void) {
    int ends[2];
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    DESCRIPTOR near = ends[0];
    DESCRIPTOR far = ends[1];
    MUST(write(far, "hello", 5) == 5);
    calls = 0;
    has_ended = false;
    begin_faults();
    CFRunLoopRef loop = CFRunLoopGetCurrent();
    NEEDS(loop);
    OBJECT CFSocketRef socket = CFSocketCreateWithNative(NULL, near, kCFSocketDataCallBack, receive, NULL);
    NEEDS(socket);
    near = -1; // the socket's
    OBJECT CFRunLoopSourceRef source = CFSocketCreateRunLoopSource(NULL, socket, 0);
    if (!source) {
        CFSocketInvalidate(socket);
        return told_of("runloop_cf", -ENOMEM);
    }
    CFRunLoopAddSource(loop, source, mode());
    bool is_there = CFRunLoopContainsSource(loop, source, mode());
    bool has_run = !is_there || run_until(1);
    CFSocketInvalidate(socket);
    return is_there ? outcome_or(has_run && !has_ended, "runloop_cf", has_ended ? -EIO : 0)
                    : told_of("runloop_cf", -ENOMEM);
}

static void ready(CFFileDescriptorRef descriptor, CFOptionFlags types, void *info) {
    (void)descriptor, (void)types, (void)info;
    calls++;
}

static enum outcome a_file_descriptor(void) {
    DESCRIPTOR event = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    calls = 0;
    begin_faults();
    CFRunLoopRef loop = CFRunLoopGetCurrent();
    NEEDS(loop);
    OBJECT CFFileDescriptorRef descriptor = CFFileDescriptorCreate(NULL, event, false, ready, NULL);
    NEEDS(descriptor);
    CFFileDescriptorEnableCallBacks(descriptor, kCFFileDescriptorReadCallBack);
    OBJECT CFRunLoopSourceRef source = CFFileDescriptorCreateRunLoopSource(NULL, descriptor, 0);
    if (!source) {
        CFFileDescriptorInvalidate(descriptor);
        return told_of("runloop_cf", -ENOMEM);
    }
    CFRunLoopAddSource(loop, source, mode());
    bool is_there = CFRunLoopContainsSource(loop, source, mode());
    bool has_run = !is_there || run_until(1);
    CFFileDescriptorInvalidate(descriptor);
    return is_there ? outcome_of(has_run, 0) : told_of("runloop_cf", -ENOMEM);
}

const struct scenario cf_scenarios[] = {
    {"CF: a timer and a source", a_timer_and_a_source},
    {"CF: a socket", a_socket},
    {"CF: a file descriptor", a_file_descriptor},
    {0},
};
