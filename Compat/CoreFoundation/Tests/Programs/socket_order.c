// Several sockets that are ready at once, of different orders: called one after the other, before a timer that the first of them adds. One
// that the first invalidates is not called, and a nested run of another mode calls none of them.
#include <CoreFoundation/CoreFoundation.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { COUNT = 5 };

static const char *const names[COUNT] = {"a", "b", "c", "d", "e"};
static const CFIndex orders[COUNT] = {3, 0, 4, 1, 2};
static int pairs[COUNT][2], timer_after, calls;
static CFSocketRef sockets[COUNT];
static CFRunLoopSourceRef sources[COUNT];
static CFRunLoopTimerRef timer;
static enum { NOTHING, INVALIDATES, NESTS } first_does;

static void fire(CFRunLoopTimerRef t, void *info) {
    (void)t, (void)info;
    timer_after = calls;
}

static void act(void) {
    if (first_does == INVALIDATES)
        CFSocketInvalidate(sockets[3]);
    else if (first_does == NESTS)
        printf(" (nested: %d)", (int)CFRunLoopRunInMode(CFSTR("other"), 0.05, true));
}

static void called(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)type, (void)address, (void)data;
    char byte;
    printf(" %s", (const char *)info);
    if (read(CFSocketGetNative(s), &byte, 1) != 1)
        printf("(nothing)");
    if (++calls > 1)
        return;
    CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, kCFRunLoopDefaultMode);
    act();
}

static void make_all(void) {
    for (int i = 0; i < COUNT; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]))
            perror("socketpair");
        CFSocketContext context = {.info = (void *)names[i]};
        sockets[i] = CFSocketCreateWithNative(NULL, pairs[i][0], kCFSocketReadCallBack, called, &context);
        sources[i] = CFSocketCreateRunLoopSource(NULL, sockets[i], orders[i]);
        CFRunLoopAddSource(CFRunLoopGetCurrent(), sources[i], kCFRunLoopDefaultMode);
    }
    timer = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent(), 0, 0, 0, fire, NULL);
}

static void end_all(void) {
    for (int i = 0; i < COUNT; i++) {
        CFSocketInvalidate(sockets[i]);
        CFRelease(sockets[i]);
        CFRelease(sources[i]);
        close(pairs[i][1]);
    }
    CFRunLoopTimerInvalidate(timer);
    CFRelease(timer);
}

static void show(const char *what, int does) {
    make_all();
    calls = timer_after = 0;
    first_does = does;
    for (int i = 0; i < COUNT; i++) {
        if (write(pairs[i][1], "x", 1) != 1)
            perror("write");
    }
    usleep(100000); // until another thread, if there is one, has noticed all of them
    printf("%s:", what);
    int result = (int)CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.2, false);
    printf("; result %d, %d calls, the timer after %d\n", result, calls, timer_after);
    end_all();
}

static void keep(void *info) {
    (void)info;
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    CFRunLoopSourceContext context = {.perform = keep};
    CFRunLoopSourceRef other = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), other, CFSTR("other"));
    CFRunLoopAddSource(CFRunLoopGetCurrent(), other, kCFRunLoopDefaultMode);
    show("by order", NOTHING);
    show("invalidated", INVALIDATES);
    show("a nested run of another mode", NESTS);
    CFRunLoopSourceInvalidate(other);
    CFRelease(other);
    return 0;
}
