// cf.c — the servers on CFRunLoop, with CFSocket, CoreFoundation's type for sockets: a separate thread waits for them with select
// and signals sources of the loop.

#include <CoreFoundation/CoreFoundation.h>
#include <stdlib.h>

#include "loop.h"

struct loop_watch {
    CFSocketRef socket;
    loop_ready ready;
    void *info;
};

void loop_open(void) {
    CFRunLoopGetCurrent();
}

static void ready(CFSocketRef socket, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)socket, (void)type, (void)address, (void)data;
    const struct loop_watch *watch = info;
    watch->ready(watch->info);
}

static CFOptionFlags callbacks(enum loop_direction direction) {
    return direction == LOOP_READING ? kCFSocketReadCallBack : kCFSocketWriteCallBack;
}

struct loop_watch *loop_watch_start(int descriptor, loop_ready function, void *info) {
    struct loop_watch *watch = malloc(sizeof *watch);
    loop_check(watch != NULL, "memory");
    *watch = (struct loop_watch){.ready = function, .info = info};
    CFSocketContext context = {.info = watch};
    CFOptionFlags both = kCFSocketReadCallBack | kCFSocketWriteCallBack;
    watch->socket = CFSocketCreateWithNative(NULL, descriptor, both, ready, &context);
    loop_check(watch->socket != NULL, "CFSocket");
    CFSocketSetSocketFlags(watch->socket, kCFSocketAutomaticallyReenableReadCallBack |
                                              kCFSocketAutomaticallyReenableWriteCallBack | kCFSocketCloseOnInvalidate);
    CFSocketDisableCallBacks(watch->socket, kCFSocketWriteCallBack);
    CFRunLoopSourceRef source = CFSocketCreateRunLoopSource(NULL, watch->socket, 0);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
    CFRelease(source);
    return watch;
}

void loop_watch_turn(struct loop_watch *watch, enum loop_direction direction) {
    CFSocketDisableCallBacks(watch->socket, callbacks(!direction));
    CFSocketEnableCallBacks(watch->socket, callbacks(direction));
}

void loop_watch_end(struct loop_watch *watch) {
    CFSocketInvalidate(watch->socket);
    CFRelease(watch->socket);
    free(watch);
}

void loop_run(void) {
    CFRunLoopRun();
}

void loop_stop(void) {
    CFRunLoopStop(CFRunLoopGetCurrent());
}
