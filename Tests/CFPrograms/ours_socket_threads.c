// Two threads run their loops, each socket in both, while two others enable, disable, invalidate and release what they can. Only
// for ours, and for the sanitizers.
#include <CoreFoundation/CoreFoundation.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 1500 };

static CFRunLoopRef loops[2];
static pthread_barrier_t ready;
static atomic_bool stopped;
static _Atomic int held, called;

static const void *retain(const void *info) {
    atomic_fetch_add(&held, 1);
    return info;
}

static void release(const void *info) {
    (void)info;
    atomic_fetch_sub(&held, 1);
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
    pthread_barrier_wait(&ready);
    while (!atomic_load(&stopped)) {
        if (CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.002, false) == kCFRunLoopRunFinished)
            sched_yield();
    }
    return NULL;
}

static void use_socket(unsigned *seed) {
    unsigned dice = (unsigned)rand_r(seed);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return;
    CFSocketContext context = {0, &held, retain, release, NULL};
    CFOptionFlags input = dice % 2 ? kCFSocketReadCallBack : kCFSocketDataCallBack;
    CFSocketRef s = CFSocketCreateWithNative(NULL, pair[0], input | kCFSocketWriteCallBack, call, &context);
    CFRunLoopSourceRef source = CFSocketCreateRunLoopSource(NULL, s, 0);
    CFRunLoopAddSource(loops[0], source, kCFRunLoopDefaultMode);
    CFRunLoopAddSource(loops[1], source, kCFRunLoopDefaultMode);
    for (int i = 0; i < 4; i++) {
        if (send(pair[1], "x", 1, MSG_NOSIGNAL) < 0 || dice >> i & 1)
            CFSocketDisableCallBacks(s, input);
        sched_yield();
        CFSocketEnableCallBacks(s, input | kCFSocketWriteCallBack);
    }
    if (dice & 16)
        CFRunLoopRemoveSource(loops[0], source, kCFRunLoopDefaultMode);
    if (dice & 32)
        CFRunLoopSourceInvalidate(source);
    CFRelease(source);
    CFSocketInvalidate(s);
    CFRelease(s);
    close(pair[1]);
}

static void *work(void *seed) {
    unsigned state = (unsigned)(uintptr_t)seed;
    for (int i = 0; i < ROUNDS; i++)
        use_socket(&state);
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    pthread_barrier_init(&ready, NULL, 3);
    for (intptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    pthread_barrier_wait(&ready);
    for (intptr_t i = 2; i < 4; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    pthread_join(threads[2], NULL);
    pthread_join(threads[3], NULL);
    atomic_store(&stopped, true);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("called %d, contexts left %d\n", atomic_load(&called) > 0, atomic_load(&held));
    CFRelease(loops[0]);
    CFRelease(loops[1]);
    return 0;
}
