// foundation.c — a descriptor that Foundation's loop of the initial thread waits for, in a program that has Foundation. The references are
// weak: nothing is linked or loaded for their sake.

#ifdef __linux__
#include "runloop_executors.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

//===-- what is public of CoreFoundation -----------------------------------------------------------------------------===//

struct context {
    long version;
    void *info;
    const void *(*retain)(const void *);
    void (*release)(const void *);
    const void *(*copy_description)(const void *);
    unsigned char (*equal)(const void *, const void *);
    unsigned long (*hash)(const void *);
    int (*get_port)(void *);
    void (*perform)(void *);
};

extern void *CFRunLoopGetMain(void) __attribute__((weak));
extern void *CFRunLoopSourceCreate(const void *allocator, long order, struct context *) __attribute__((weak));
extern void CFRunLoopAddSource(void *loop, void *source, const void *mode) __attribute__((weak));
extern void CFRunLoopSourceInvalidate(void *source) __attribute__((weak));
extern void *CFRunLoopObserverCreate(const void *allocator, unsigned long activities, unsigned char repeats, long order,
                                     void (*call)(void *, unsigned long, void *), void *context) __attribute__((weak));
extern void CFRunLoopAddObserver(void *loop, void *observer, const void *mode) __attribute__((weak));
extern void CFRelease(const void *) __attribute__((weak));
extern const void *const kCFRunLoopCommonModes __attribute__((weak));

static bool has_foundation(void) {
    return CFRunLoopGetMain && CFRunLoopSourceCreate && CFRunLoopAddSource && CFRunLoopSourceInvalidate && CFRelease &&
           &kCFRunLoopCommonModes;
}

//===-- its runs -----------------------------------------------------------------------------------------------------===//

/// kCFRunLoopEntry and kCFRunLoopExit
enum { ENTRY = 1, EXIT = 1 << 7 };

static void (*run_has_begun)(void), (*run_ends)(void);

static void notice_run(void *observer, unsigned long activity, void *info) {
    (void)observer, (void)info;
    (activity == ENTRY ? run_has_begun : run_ends)();
}

void runloop_foundation_observe(void (*begun)(void), void (*ends)(void)) {
    if (!has_foundation() || !CFRunLoopObserverCreate || !CFRunLoopAddObserver || run_has_begun)
        return;
    run_has_begun = begun;
    run_ends = ends;
    void *observer = CFRunLoopObserverCreate(NULL, ENTRY | EXIT, 1, 0, notice_run, NULL);
    if (!observer)
        return;
    CFRunLoopAddObserver(CFRunLoopGetMain(), observer, kCFRunLoopCommonModes);
    CFRelease(observer);
}

//===-- watching -----------------------------------------------------------------------------------------------------===//

struct watch {
    int descriptor;
    void *source;
    void (*perform)(void);
};

static int get_port(void *watch) {
    return ((struct watch *)watch)->descriptor;
}

static void perform(void *watch) {
    // It may end the watch.
    ((struct watch *)watch)->perform();
}

void *runloop_foundation_watch(int descriptor, void (*call)(void)) {
    struct watch *watch = has_foundation() ? calloc(1, sizeof *watch) : NULL;
    if (!watch)
        return NULL;
    // Foundation knows its sources by their numbers, and another may wait for the same descriptor.
    watch->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    watch->perform = call;
    struct context context = {.version = 1, .info = watch, .get_port = get_port, .perform = perform};
    if (watch->descriptor >= 0)
        watch->source = CFRunLoopSourceCreate(NULL, 0, &context);
    if (!watch->source) {
        runloop_foundation_end_watch(watch);
        return NULL;
    }
    CFRunLoopAddSource(CFRunLoopGetMain(), watch->source, kCFRunLoopCommonModes);
    return watch;
}

void runloop_foundation_end_watch(void *info) {
    struct watch *watch = info;
    if (watch->source) {
        CFRunLoopSourceInvalidate(watch->source);
        CFRelease(watch->source);
    }
    if (watch->descriptor >= 0)
        close(watch->descriptor);
    free(watch);
}
#endif // __linux__
