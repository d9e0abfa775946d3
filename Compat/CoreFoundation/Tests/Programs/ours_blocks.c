// Blocks laid out by hand, as the block ABI describes them: how often each is copied and disposed of must not depend on whether the
// program has a blocks runtime. Only for ours.
#undef __BLOCKS__ // These blocks are passed as plain pointers.
#include <CoreFoundation/CoreFoundation.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void CFRunLoopPerformBlock(CFRunLoopRef loop, CFTypeRef mode, void *block);
CFRunLoopObserverRef CFRunLoopObserverCreateWithHandler(CFAllocatorRef allocator, CFOptionFlags activities,
                                                        Boolean repeats, CFIndex order, void *block);
CFRunLoopTimerRef CFRunLoopTimerCreateWithHandler(CFAllocatorRef allocator, CFAbsoluteTime date,
                                                  CFTimeInterval interval, CFOptionFlags flags, CFIndex order,
                                                  void *block);

enum { HAS_HELPERS = 1 << 25, IS_GLOBAL = 1 << 28 };

struct descriptor {
    unsigned long reserved, size;
    void (*copy)(void *to, const void *from);
    void (*dispose)(const void *block);
};

struct block {
    void *isa;
    int flags, reserved;
    void (*invoke)(void);
    const struct descriptor *descriptor;
    const char *name;
    const struct block *original;
};

static void *some_class[32];
static int copies, disposals, calls;

static void copy(void *to, const void *from) {
    copies++;
    ((struct block *)to)->original = from;
}

static void dispose(const void *block) {
    (void)block;
    disposals++;
}

static void invoke(void *called) {
    const struct block *block = called;
    calls++;
    if (calls <= 4)
        printf("%s, %s\n", block->name, block == block->original ? "in its place" : "a copy");
}

static void fire(void *block, CFRunLoopTimerRef timer) {
    (void)timer;
    invoke(block);
}

static void observe(void *block, CFRunLoopObserverRef observer, CFRunLoopActivity activity) {
    (void)observer, (void)activity;
    invoke(block);
}

static const struct descriptor plain = {0, sizeof(struct block), NULL, NULL};
static const struct descriptor helped = {0, sizeof(struct block), copy, dispose};

static struct block block_with(int flags, const char *name, void (*function)(void)) {
    return (struct block){some_class, flags, 0, function, flags & HAS_HELPERS ? &helped : &plain, name, NULL};
}

static struct block global;

/// The block is on this function's stack, which is overwritten before the block is called.
static void perform(CFRunLoopRef loop, CFStringRef mode, int flags, const char *name) {
    struct block block = block_with(flags, name, (void (*)(void))invoke);
    CFRunLoopPerformBlock(loop, mode, &block);
    memset(&block, 0, sizeof block);
    __asm__ volatile("" : : "r"(&block) : "memory");
}

static CFRunLoopTimerRef make_timer(CFTimeInterval interval) {
    struct block block = block_with(HAS_HELPERS, "timer", (void (*)(void))fire);
    CFRunLoopTimerRef timer = CFRunLoopTimerCreateWithHandler(NULL, 0, interval, 0, 0, &block);
    memset(&block, 0, sizeof block);
    __asm__ volatile("" : : "r"(&block) : "memory");
    return timer;
}

static CFRunLoopObserverRef make_observer(void) {
    struct block block = block_with(HAS_HELPERS, "observer", (void (*)(void))observe);
    CFRunLoopObserverRef observer = CFRunLoopObserverCreateWithHandler(NULL, kCFRunLoopAllActivities, true, 0, &block);
    memset(&block, 0, sizeof block);
    __asm__ volatile("" : : "r"(&block) : "memory");
    return observer;
}

static void report(const char *what) {
    printf("%s: %d copied, %d disposed of\n", what, copies, disposals);
}

int main(void) {
    CFRunLoopRef loop = CFRunLoopGetCurrent();
    global = block_with(IS_GLOBAL, "global", (void (*)(void))invoke);
    global.original = &global;
    CFRunLoopPerformBlock(loop, kCFRunLoopDefaultMode, &global);
    perform(loop, kCFRunLoopDefaultMode, 0, "on the stack");
    perform(loop, kCFRunLoopDefaultMode, HAS_HELPERS, "with helpers");
    report("before the run");
    CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false);
    report("performed");
    perform(loop, CFSTR("another mode"), HAS_HELPERS, "never performed");
    CFRunLoopPerformBlock(loop, kCFNull, &global);
    report("queued for another mode");

    CFRunLoopTimerRef timer = make_timer(0.001);
    CFRunLoopObserverRef observer = make_observer();
    if (!timer || !observer) {
        printf("no timer or no observer\n");
        return 1;
    }
    CFRunLoopAddTimer(loop, timer, kCFRunLoopDefaultMode);
    CFRunLoopAddObserver(loop, observer, kCFRunLoopDefaultMode);
    while (calls < 50)
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.01, false);
    report("many calls of two handlers");
    CFRunLoopTimerInvalidate(timer);
    CFRunLoopObserverInvalidate(observer);
    CFRelease(timer);
    CFRelease(observer);
    report("invalidated");
    return 0;
}
