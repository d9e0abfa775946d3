// Callbacks are enabled and disabled, by flags and by hand; sockets and sources are unique; one is invalidated by its own callback.
#include <CoreFoundation/CoreFoundation.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2], other[2], calls, timer_at, told[9];
static bool reads, disables, invalidates, enables;
static CFRunLoopTimerRef timer;

static void fire(CFRunLoopTimerRef t, void *info) {
    (void)t, (void)info;
    timer_at = calls;
}

static void called(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    char byte;
    told[type]++;
    if (info)
        printf("  %s: type %d, address %d, data %d\n", (const char *)info, (int)type, address != NULL, data != NULL);
    if (reads && type == kCFSocketReadCallBack && read(CFSocketGetNative(s), &byte, 1) != 1)
        printf("  nothing to read\n");
    if (disables)
        CFSocketDisableCallBacks(s, type);
    if (enables && calls < 2)
        CFSocketEnableCallBacks(s, type);
    if (invalidates) {
        CFSocketInvalidate(s);
        CFSocketContext context = {.version = 0};
        CFSocketGetContext(s, &context);
        printf("  valid %d, native %d, info %d, source %d\n", CFSocketIsValid(s), CFSocketGetNative(s),
               context.info != NULL, CFSocketCreateRunLoopSource(NULL, s, 0) != NULL);
    }
    if (++calls == 1 && timer) // due at once, and still after every socket that was ready
        CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, kCFRunLoopDefaultMode);
    if (calls == 6)
        CFRunLoopStop(CFRunLoopGetCurrent());
}

static void do_nothing(void *info) {
    (void)info;
}

static void run(const char *what) {
    calls = 0;
    printf("%s\n", what);
    CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.1, false);
}

static CFSocketRef make(char *name, int *descriptors, CFOptionFlags types) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, descriptors))
        return NULL;
    CFSocketContext context = {.info = name};
    CFSocketRef s = CFSocketCreateWithNative(NULL, descriptors[0], types, called, &context);
    CFRunLoopSourceRef source = CFSocketCreateRunLoopSource(NULL, s, 0);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
    CFRelease(source);
    return s;
}

static void end(CFSocketRef s, const int *descriptors) {
    CFSocketInvalidate(s);
    CFRelease(s);
    close(descriptors[1]);
}

static void put(const int *descriptors, size_t count) {
    if (write(descriptors[1], "........", count) != (ssize_t)count)
        printf("short write\n");
}

static void reading(void) {
    CFSocketRef s = make("read", pair, kCFSocketReadCallBack);
    printf("flags %d\n", (int)CFSocketGetSocketFlags(s));
    reads = true;
    put(pair, 3);
    run("three bytes, one at a time");
    reads = false, disables = true;
    put(pair, 1);
    run("disabled in its callback");
    CFSocketEnableCallBacks(s, kCFSocketReadCallBack);
    run("enabled, and disabled in its callback");
    disables = false;
    CFSocketSetSocketFlags(s, kCFSocketCloseOnInvalidate);
    run("no flag");
    CFSocketEnableCallBacks(s, kCFSocketReadCallBack);
    run("enabled once");
    CFSocketSetSocketFlags(s, kCFSocketCloseOnInvalidate | kCFSocketAutomaticallyReenableReadCallBack);
    run("the flag alone");
    CFSocketEnableCallBacks(s, kCFSocketReadCallBack | kCFSocketWriteCallBack);
    run("again and again");
    end(s, pair);
}

static void writing(void) {
    CFSocketRef s = make("write", pair, kCFSocketWriteCallBack);
    printf("flags %d\n", (int)CFSocketGetSocketFlags(s));
    run("once");
    enables = true;
    CFSocketEnableCallBacks(s, kCFSocketWriteCallBack);
    run("three times, enabled in the callback");
    enables = false;
    CFSocketSetSocketFlags(s, kCFSocketCloseOnInvalidate | kCFSocketAutomaticallyReenableWriteCallBack);
    CFSocketEnableCallBacks(s, kCFSocketWriteCallBack);
    run("again and again");
    end(s, pair);
    s = make(NULL, pair, kCFSocketReadCallBack | kCFSocketWriteCallBack | kCFSocketConnectCallBack);
    reads = true;
    put(pair, 1);
    memset(told, 0, sizeof told);
    run("connected, readable, writable");
    CFSocketEnableCallBacks(s, kCFSocketWriteCallBack | kCFSocketConnectCallBack);
    run("connected is told once");
    printf("  read %d, connect %d, write %d\n", told[kCFSocketReadCallBack], told[kCFSocketConnectCallBack],
           told[kCFSocketWriteCallBack]);
    end(s, pair);
}

static void unique(void) {
    CFSocketRef s = make("first", pair, kCFSocketReadCallBack);
    CFSocketContext context = {.info = "second"};
    CFSocketRef same = CFSocketCreateWithNative(NULL, pair[0], kCFSocketDataCallBack, called, &context);
    CFSocketGetContext(same, &context);
    printf("same %d, %s\n", s == same, (const char *)context.info);
    CFRunLoopSourceRef source = CFSocketCreateRunLoopSource(NULL, s, 0),
                       again = CFSocketCreateRunLoopSource(NULL, s, 5);
    printf("same source %d, order %d\n", source == again, (int)CFRunLoopSourceGetOrder(again));
    CFRunLoopSourceInvalidate(source);
    CFRunLoopSourceRef next = CFSocketCreateRunLoopSource(NULL, s, 7);
    printf("another source %d, order %d, socket valid %d\n", source != next, (int)CFRunLoopSourceGetOrder(next),
           CFSocketIsValid(s));
    CFSocketInvalidate(s);
    printf("source valid %d\n", CFRunLoopSourceIsValid(next));
    CFRelease(source);
    CFRelease(again);
    CFRelease(next);
    CFRelease(same);
    CFRelease(s);
    close(pair[1]);
}

static void together(void) {
    CFSocketRef one = make(NULL, pair, kCFSocketReadCallBack), two = make(NULL, other, kCFSocketReadCallBack);
    timer = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent(), 0, 0, 0, fire, NULL);
    reads = true;
    put(pair, 1);
    put(other, 1);
    usleep(50000); // until another thread, if there is one, has noticed both
    run("two at once");
    printf("the timer fired after %d of %d\n", timer_at, calls);
    CFRunLoopTimerInvalidate(timer);
    CFRelease(timer);
    timer = NULL;
    end(one, pair);
    end(two, other);
}

int main(void) {
    CFRunLoopSourceContext context = {.perform = do_nothing};
    CFRunLoopSourceRef keep = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), keep, kCFRunLoopDefaultMode);
    reading();
    writing();
    unique();
    together();
    CFSocketRef s = make("invalid", pair, kCFSocketConnectCallBack | kCFSocketWriteCallBack);
    invalidates = true;
    run("invalidated in the first of two callbacks");
    end(s, pair);
    CFRunLoopSourceInvalidate(keep);
    CFRelease(keep);
    return 0;
}
