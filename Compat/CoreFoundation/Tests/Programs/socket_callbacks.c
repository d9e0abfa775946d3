// Callbacks are enabled and disabled, by flags and by hand; sockets and sources are unique; one is invalidated by its own callback.
#include <CoreFoundation/CoreFoundation.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2], calls, told[9];
static bool reads, disables, invalidates, enables;

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
    if (++calls == 6)
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

static CFSocketRef make(char *name, CFOptionFlags types) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return NULL;
    CFSocketContext context = {.info = name};
    CFSocketRef s = CFSocketCreateWithNative(NULL, pair[0], types, called, &context);
    CFRunLoopSourceRef source = CFSocketCreateRunLoopSource(NULL, s, 0);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
    CFRelease(source);
    return s;
}

static void end(CFSocketRef s) {
    CFSocketInvalidate(s);
    CFRelease(s);
    close(pair[1]);
}

static void put(size_t count) {
    if (write(pair[1], "........", count) != (ssize_t)count)
        printf("short write\n");
}

static void reading(void) {
    CFSocketRef s = make("read", kCFSocketReadCallBack);
    printf("flags %d\n", (int)CFSocketGetSocketFlags(s));
    reads = true;
    put(3);
    run("three bytes, one at a time");
    reads = false, disables = true;
    put(1);
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
    end(s);
}

static void writing(void) {
    CFSocketRef s = make("write", kCFSocketWriteCallBack);
    printf("flags %d\n", (int)CFSocketGetSocketFlags(s));
    run("once");
    enables = true;
    CFSocketEnableCallBacks(s, kCFSocketWriteCallBack);
    run("three times, enabled in the callback");
    enables = false;
    CFSocketSetSocketFlags(s, kCFSocketCloseOnInvalidate | kCFSocketAutomaticallyReenableWriteCallBack);
    CFSocketEnableCallBacks(s, kCFSocketWriteCallBack);
    run("again and again");
    end(s);
    s = make(NULL, kCFSocketReadCallBack | kCFSocketWriteCallBack | kCFSocketConnectCallBack);
    reads = true;
    put(1);
    memset(told, 0, sizeof told);
    run("connected, readable, writable");
    CFSocketEnableCallBacks(s, kCFSocketWriteCallBack | kCFSocketConnectCallBack);
    run("connected is reported once");
    printf("  read %d, connect %d, write %d\n", told[kCFSocketReadCallBack], told[kCFSocketConnectCallBack],
           told[kCFSocketWriteCallBack]);
    end(s);
}

static void unique(void) {
    CFSocketRef s = make("first", kCFSocketReadCallBack);
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

int main(void) {
    CFRunLoopSourceContext context = {.perform = do_nothing};
    CFRunLoopSourceRef keep = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), keep, kCFRunLoopDefaultMode);
    reading();
    writing();
    unique();
    CFSocketRef s = make("invalid", kCFSocketConnectCallBack | kCFSocketWriteCallBack);
    invalidates = true;
    run("invalidated in the first of two callbacks");
    end(s);
    CFRunLoopSourceInvalidate(keep);
    CFRelease(keep);
    return 0;
}
