// A version-1 source on an eventfd, as programs for the Linux port of CoreFoundation use it.
#include <CoreFoundation/CoreFoundation.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

extern Boolean CFRunLoopSourceIsSignalled(CFRunLoopSourceRef source);

static int events = -1, left = 3;
static CFRunLoopSourceRef source;

static int get_port(void *info) {
    return *(int *)info;
}

static void perform(void *info) {
    uint64_t value;
    printf("event, counter is reset: %d, signalled: %d\n", read(*(int *)info, &value, sizeof value) < 0,
           CFRunLoopSourceIsSignalled(source));
    if (--left == 0)
        CFRunLoopStop(CFRunLoopGetCurrent());
    else if (left == 1)
        eventfd_write(*(int *)info, 1);
}

static void *send_events(void *unused) {
    (void)unused;
    eventfd_write(events, 1);
    return NULL;
}

static void *run(void *unused) {
    (void)unused;
    events = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    CFRunLoopSourceContext1 context = {1, &events, NULL, NULL, NULL, NULL, NULL, get_port, perform};
    source = CFRunLoopSourceCreate(NULL, 0, (CFRunLoopSourceContext *)&context);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
    eventfd_write(events, 1);
    eventfd_write(events, 1);
    CFRunLoopSourceSignal(source);
    printf("signalled: %d\n", CFRunLoopSourceIsSignalled(source));
    printf("two writes: %d\n", (int)CFRunLoopRunInMode(kCFRunLoopDefaultMode, 5, true));
    printf("afterwards: %d\n", CFRunLoopSourceIsSignalled(source));
    pthread_t thread;
    pthread_create(&thread, NULL, send_events, NULL);
    printf("from another thread, and once more: %d\n", (int)CFRunLoopRunInMode(kCFRunLoopDefaultMode, 5, false));
    pthread_join(thread, NULL);
    CFRunLoopSourceContext1 got;
    got.version = 1;
    CFRunLoopSourceGetContext(source, (CFRunLoopSourceContext *)&got);
    printf("context: version %d, port %d\n", (int)got.version, got.getPort(got.info) == events);
    CFRunLoopSourceInvalidate(source);
    printf("nothing left: %d\n", (int)CFRunLoopRunInMode(kCFRunLoopDefaultMode, 5, false));
    CFRelease(source);
    close(events);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    return 0;
}
