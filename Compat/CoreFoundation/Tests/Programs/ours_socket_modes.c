// Sockets in several modes and loops: one that is ready in another mode disturbs nobody; another thread enables, adds,
// invalidates, or ends. Only for ours.
#include <CoreFoundation/CoreFoundation.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#define kFirst CFSTR("first")
#define kSecond CFSTR("second")

static CFRunLoopRef loop;
static int pair[2], calls, sleeps;
static bool stops;
static CFSocketRef shared;
static _Atomic int step;

static void wait_for(int number) {
    while (atomic_load(&step) < number)
        usleep(1000);
}

static void called(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)type, (void)address, (void)data, (void)info;
    char byte;
    if (read(CFSocketGetNative(s), &byte, 1) != 1)
        printf("nothing to read\n");
    calls++;
    if (stops)
        CFRunLoopStop(CFRunLoopGetCurrent());
}

static void count_sleep(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    sleeps++;
}

static void fire(CFRunLoopTimerRef timer, void *info) {
    (void)timer, (void)info;
}

static CFRunLoopSourceRef make(CFSocketCallBack callback) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return NULL;
    shared = CFSocketCreateWithNative(NULL, pair[0], kCFSocketReadCallBack, callback, NULL);
    return CFSocketCreateRunLoopSource(NULL, shared, 0);
}

static void put(void) {
    if (write(pair[1], "x", 1) != 1)
        printf("short write\n");
}

static void end(CFRunLoopSourceRef source) {
    CFSocketInvalidate(shared);
    CFRelease(shared);
    CFRelease(source);
    close(pair[1]);
}

static void run(const char *what, CFStringRef mode, CFTimeInterval limit) {
    calls = sleeps = 0;
    CFRunLoopRunInMode(mode, limit, false);
    printf("%s: %d calls, few sleeps %d\n", what, calls, sleeps < 6);
}

static void modes(void) {
    CFRunLoopTimerRef timer = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent() + 600, 0, 0, 0, fire, NULL);
    CFRunLoopObserverRef observer = CFRunLoopObserverCreate(NULL, kCFRunLoopBeforeWaiting, true, 0, count_sleep, NULL);
    CFRunLoopAddTimer(loop, timer, kSecond);
    CFRunLoopAddObserver(loop, observer, kFirst);
    CFRunLoopAddObserver(loop, observer, kSecond);
    CFRunLoopSourceRef source = make(called);
    CFRunLoopAddSource(loop, source, kFirst);
    put();
    run("ready in another mode", kSecond, 0.05);
    run("in its mode", kFirst, 0.05);
    CFRunLoopAddSource(loop, source, kSecond);
    put();
    run("in both", kSecond, 0.05);
    CFRunLoopRemoveSource(loop, source, kSecond);
    put();
    run("removed", kSecond, 0.05);
    run("and still in its mode", kFirst, 0);
    CFRunLoopRemoveSource(loop, source, kFirst);
    put();
    run("in none", kFirst, 1);
    CFRunLoopAddCommonMode(loop, kFirst);
    CFRunLoopAddSource(loop, source, kCFRunLoopCommonModes);
    CFRunLoopAddCommonMode(loop, kSecond);
    run("in the common modes", kSecond, 0);
    printf("the socket is valid %d\n", CFSocketIsValid(shared));
    end(source);
    run("invalid", kFirst, 1);
    CFRunLoopTimerInvalidate(timer);
    CFRunLoopObserverInvalidate(observer);
    CFRelease(timer);
    CFRelease(observer);
}

static void *enable_later(void *unused) {
    while (!CFRunLoopIsWaiting(loop))
        usleep(1000);
    CFSocketEnableCallBacks(shared, kCFSocketReadCallBack);
    return unused;
}

static void other_thread_enables(void) {
    pthread_t thread;
    CFRunLoopSourceRef source = make(called);
    CFRunLoopAddSource(loop, source, kFirst);
    CFSocketDisableCallBacks(shared, kCFSocketReadCallBack);
    put();
    stops = true;
    pthread_create(&thread, NULL, enable_later, NULL);
    calls = 0;
    int result = (int)CFRunLoopRunInMode(kFirst, 60, false);
    pthread_join(thread, NULL);
    printf("enabled by another thread, while the loop slept: result %d, %d calls\n", result, calls);
    stops = false;
    end(source);
}

static void *add_later(void *source) {
    while (!CFRunLoopIsWaiting(loop))
        usleep(1000);
    CFRunLoopAddSource(loop, source, kFirst);
    return NULL;
}

static void stop(CFFileDescriptorRef f, CFOptionFlags types, void *info) {
    (void)f, (void)types, (void)info;
    calls++;
    CFRunLoopStop(CFRunLoopGetCurrent());
}

static void do_nothing(void *info) {
    (void)info;
}

static void other_thread_adds_a_file(void) {
    pthread_t thread;
    CFRunLoopSourceContext context = {.perform = do_nothing};
    CFRunLoopSourceRef keep = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopAddSource(loop, keep, kFirst);
    CFFileDescriptorRef f = CFFileDescriptorCreate(NULL, open("/proc/self/exe", O_RDONLY), true, stop, NULL);
    CFRunLoopSourceRef source = CFFileDescriptorCreateRunLoopSource(NULL, f, 0);
    CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
    pthread_create(&thread, NULL, add_later, (void *)source);
    calls = 0;
    int result = (int)CFRunLoopRunInMode(kFirst, 60, false);
    pthread_join(thread, NULL);
    printf("a file added by another thread, while the loop slept: result %d, %d calls\n", result, calls);
    CFRunLoopSourceInvalidate(keep);
    CFRelease(keep);
    CFRelease(source);
    CFFileDescriptorInvalidate(f);
    CFRelease(f);
}

static void *invalidate(void *unused) {
    wait_for(1);
    CFSocketInvalidate(shared);
    atomic_store(&step, 2);
    return unused;
}

/// The descriptor stays open, and the context there, until the callback of this thread returns.
static void slow(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)s, (void)type, (void)address, (void)data, (void)info;
    atomic_store(&step, 1);
    wait_for(2);
    printf("invalidated by another thread: valid %d, open %d", CFSocketIsValid(shared), fcntl(pair[0], F_GETFD) >= 0);
}

static void other_thread_invalidates(void) {
    pthread_t thread;
    CFRunLoopSourceRef source = make(slow);
    CFRunLoopAddSource(loop, source, kFirst);
    put();
    pthread_create(&thread, NULL, invalidate, NULL);
    CFRunLoopRunInMode(kFirst, 60, false);
    pthread_join(thread, NULL);
    printf(", open after it %d\n", fcntl(pair[0], F_GETFD) >= 0);
    end(source);
}

static void *run_once(void *source) {
    CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kFirst);
    CFRunLoopRunInMode(kFirst, 0, false);
    return NULL;
}

static void other_thread_ends(void) {
    pthread_t thread;
    CFRunLoopSourceRef source = make(called);
    calls = 0;
    put();
    pthread_create(&thread, NULL, run_once, source);
    pthread_join(thread, NULL);
    CFRunLoopAddSource(loop, source, kFirst);
    put();
    CFRunLoopRunInMode(kFirst, 0, false);
    printf("after the end of a thread: %d calls\n", calls);
    end(source);
}

int main(void) {
    loop = CFRunLoopGetCurrent();
    modes();
    other_thread_enables();
    other_thread_adds_a_file();
    other_thread_invalidates();
    other_thread_ends();
    return 0;
}
