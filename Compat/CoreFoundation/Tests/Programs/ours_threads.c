// Two threads run their loops while two others add, move, signal, invalidate and release everything they can. Only for ours,
// and for the sanitizers; the output of the real one may differ from run to run.
#include <CoreFoundation/CoreFoundation.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 9000, SOURCES = 20000 };
#define kSecond CFSTR("second")

static CFRunLoopRef loops[2];
static pthread_barrier_t ready;
static atomic_bool stopped;
static _Atomic int held, fired, performed, observed, read_bytes, called;

static const void *retain(const void *info) {
    atomic_fetch_add(&held, 1);
    return info;
}

static void release(const void *info) {
    (void)info;
    atomic_fetch_sub(&held, 1);
}

static void fire(CFRunLoopTimerRef timer, void *info) {
    (void)info;
    CFRetain(timer);
    if (atomic_fetch_add(&fired, 1) % 3 == 0)
        CFRunLoopTimerInvalidate(timer);
    CFRelease(timer);
}

static void observe(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info) {
    (void)activity, (void)info;
    CFRetain(observer);
    if (atomic_fetch_add(&observed, 1) % 7 == 0)
        CFRunLoopObserverInvalidate(observer);
    CFRelease(observer);
}

static void perform(void *info) {
    (void)info;
    atomic_fetch_add(&performed, 1);
}

static void scheduled(void *info, CFRunLoopRef loop, CFStringRef mode) {
    (void)info;
    CFRelease(CFRetain(loop));
    CFHash(mode);
}

static void readable(CFFileDescriptorRef f, CFOptionFlags types, void *info) {
    (void)types, (void)info;
    char byte;
    if (read(CFFileDescriptorGetNativeDescriptor(f), &byte, 1) == 1)
        atomic_fetch_add(&read_bytes, 1);
    CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
}

static void call(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)address, (void)data, (void)info;
    char byte;
    int number = atomic_fetch_add(&called, 1);
    if (type == kCFSocketReadCallBack && recv(CFSocketGetNative(s), &byte, 1, MSG_DONTWAIT) < 0)
        sched_yield();
    if (number % 5 == 0)
        CFSocketInvalidate(s);
    else if (number % 3 == 0)
        CFSocketEnableCallBacks(s, kCFSocketWriteCallBack);
}

static void *run(void *index) {
    CFRunLoopRef loop = CFRunLoopGetCurrent();
    loops[(intptr_t)index] = (CFRunLoopRef)(uintptr_t)CFRetain(loop);
    CFRunLoopSourceContext context = {.version = 0};
    CFRunLoopSourceRef keep = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopAddSource(loop, keep, kCFRunLoopCommonModes);
    CFRunLoopAddCommonMode(loop, kSecond);
    CFRelease(keep);
    pthread_barrier_wait(&ready);
    while (!atomic_load(&stopped))
        CFRunLoopRunInMode(index ? kSecond : kCFRunLoopDefaultMode, 0.002, false);
    return NULL;
}

static void use_timer(CFRunLoopRef loop, CFStringRef mode, unsigned dice) {
    CFRunLoopTimerContext context = {0, &held, retain, release, NULL};
    CFAbsoluteTime now = CFAbsoluteTimeGetCurrent();
    CFRunLoopTimerRef timer =
        CFRunLoopTimerCreate(NULL, dice & 1 ? 0 : now + 0.0005, dice & 2 ? 0.0003 : 0, 0, 0, fire, &context);
    CFRunLoopAddTimer(loop, timer, mode);
    CFRunLoopTimerSetNextFireDate(timer, now - 1);
    CFRunLoopGetNextTimerFireDate(loop, kSecond);
    CFRunLoopTimerGetNextFireDate(timer);
    if (dice & 4)
        CFRunLoopTimerInvalidate(timer);
    CFRelease(timer);
}

static void use_source(CFRunLoopRef loop, CFStringRef mode, unsigned dice) {
    CFRunLoopSourceContext context = {0, &held, retain, release, NULL, NULL, NULL, scheduled, scheduled, perform};
    CFRunLoopSourceRef source = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopAddSource(loop, source, mode);
    CFRunLoopSourceSignal(source);
    CFRunLoopWakeUp(loop);
    if (dice & 1)
        sched_yield();
    if (dice & 14)
        CFRunLoopSourceInvalidate(source);
    CFRelease(source);
}

static void use_observer(CFRunLoopRef loop, CFStringRef mode, unsigned dice) {
    CFRunLoopObserverContext context = {0, &held, retain, release, NULL};
    CFRunLoopObserverRef observer =
        CFRunLoopObserverCreate(NULL, kCFRunLoopAllActivities, dice & 1, 0, observe, &context);
    CFRunLoopAddObserver(loop, observer, mode);
    CFRunLoopWakeUp(loop);
    if (dice & 2)
        CFRunLoopObserverInvalidate(observer);
    CFRelease(observer);
}

static void use_descriptor(CFRunLoopRef loop, CFStringRef mode, unsigned dice) {
    int ends[2];
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC))
        return;
    CFFileDescriptorRef f = CFFileDescriptorCreate(NULL, ends[0], true, readable, NULL);
    CFRunLoopSourceRef source = CFFileDescriptorCreateRunLoopSource(NULL, f, 0);
    CFRunLoopAddSource(loop, source, mode);
    CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
    if (write(ends[1], "ab", 2) == 2 && dice & 1)
        sched_yield();
    CFRunLoopSourceRef same = CFFileDescriptorCreateRunLoopSource(NULL, f, 0);
    CFRelease(source);
    if (dice & 2)
        CFFileDescriptorDisableCallBacks(f, kCFFileDescriptorReadCallBack);
    CFFileDescriptorInvalidate(f);
    CFRelease(f);
    CFRelease(same);
    close(ends[1]);
}

/// A socket is in both loops.
static void use_socket(unsigned dice) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return;
    CFSocketContext context = {0, &held, retain, release, NULL};
    CFOptionFlags input = dice & 64 ? kCFSocketReadCallBack : kCFSocketDataCallBack;
    CFSocketRef s = CFSocketCreateWithNative(NULL, pair[0], input | kCFSocketWriteCallBack, call, &context);
    CFRunLoopSourceRef source = CFSocketCreateRunLoopSource(NULL, s, 0);
    for (int i = 0; i < 2; i++)
        CFRunLoopAddSource(loops[i], source, kCFRunLoopCommonModes);
    for (int i = 0; i < 4; i++) {
        if (send(pair[1], "x", 1, MSG_NOSIGNAL) < 0 || dice >> i & 1)
            CFSocketDisableCallBacks(s, input);
        sched_yield();
        CFSocketEnableCallBacks(s, input | kCFSocketWriteCallBack);
    }
    if (dice & 16)
        CFRunLoopRemoveSource(loops[0], source, kCFRunLoopCommonModes);
    if (dice & 32)
        CFRunLoopSourceInvalidate(source);
    CFRelease(source);
    CFSocketInvalidate(s);
    CFRelease(s);
    close(pair[1]);
}

static void ask(CFRunLoopRef loop) {
    CFRelease(CFRunLoopCopyAllModes(loop));
    CFStringRef mode = CFRunLoopCopyCurrentMode(loop);
    if (mode)
        CFRelease(mode);
    CFRunLoopStop(loop);
}

static void *hammer(void *index) {
    unsigned random = (unsigned)(intptr_t)index * 7919 + 1;
    pthread_barrier_wait(&ready);
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1103515245 + 12345;
        CFRunLoopRef loop = loops[random >> 16 & 1];
        CFStringRef mode = random >> 17 & 1 ? kCFRunLoopCommonModes : kSecond;
        unsigned dice = random >> 18;
        switch ((random >> 25) % 6) {
        case 0: use_timer(loop, mode, dice); break;
        case 1: use_source(loop, mode, dice); break;
        case 2: use_observer(loop, mode, dice); break;
        case 3: use_descriptor(loop, mode, dice); break;
        case 4: use_socket(dice); break;
        default: ask(loop); break;
        }
    }
    return NULL;
}

static void *release_sources(void *f) {
    pthread_barrier_wait(&ready);
    for (int i = 0; i < SOURCES; i++)
        CFRelease(CFFileDescriptorCreateRunLoopSource(NULL, f, 0));
    atomic_store(&stopped, true);
    return NULL;
}

/// A thread enables and disables a descriptor while another one makes its source and releases it.
static void change_while_sources_end(void) {
    pthread_t thread;
    CFFileDescriptorRef f = CFFileDescriptorCreate(NULL, eventfd(0, EFD_CLOEXEC), true, readable, NULL);
    pthread_barrier_init(&ready, NULL, 2);
    atomic_store(&stopped, false);
    pthread_create(&thread, NULL, release_sources, f);
    pthread_barrier_wait(&ready);
    while (!atomic_load(&stopped)) {
        CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
        CFFileDescriptorDisableCallBacks(f, kCFFileDescriptorReadCallBack);
    }
    pthread_join(thread, NULL);
    CFFileDescriptorInvalidate(f);
    printf("references to the descriptor: %ld\n", CFGetRetainCount(f));
    CFRelease(f);
}

static void *come_and_go(void *unused) {
    (void)unused;
    return CFRunLoopGetCurrent() != CFRunLoopGetMain() ? NULL : &held;
}

int main(void) {
    pthread_t runners[2], hammers[2], visitor;
    pthread_barrier_init(&ready, NULL, 4);
    for (intptr_t i = 0; i < 2; i++) {
        pthread_create(&runners[i], NULL, run, (void *)i);
        pthread_create(&hammers[i], NULL, hammer, (void *)i);
    }
    for (int i = 0; i < 100; i++) {
        pthread_create(&visitor, NULL, come_and_go, NULL);
        pthread_join(visitor, NULL);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(hammers[i], NULL);
    atomic_store(&stopped, true);
    for (int i = 0; i < 2; i++)
        pthread_join(runners[i], NULL);
    for (int i = 0; i < 2; i++)
        CFRelease(loops[i]);
    printf("something fired %d, performed %d, observed %d, was read %d, called %d\n", fired > 0, performed > 0,
           observed > 0, read_bytes > 0, called > 0);
    printf("references held: %d\n", held);
    change_while_sources_end();
    return 0;
}
