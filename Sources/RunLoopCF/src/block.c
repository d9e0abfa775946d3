// block.c — blocks, whichever compiler builds this: a block is a pointer to a published layout, and its runtime is asked for weakly.

#include "internal.h"

extern void *_Block_copy(const void *block) __attribute__((weak));
extern void _Block_release(const void *block) __attribute__((weak));

struct block_layout {
    void *isa;
    int32_t flags, reserved;
    void (*invoke)(void *block, ...);
};

const void *cf__block_copy(const void *block) {
    return _Block_copy && block ? _Block_copy(block) : NULL;
}

void cf__block_release(const void *block) {
    if (_Block_release && block)
        _Block_release(block);
}

//===-- performing ---------------------------------------------------------------------------------------------------===//

CF_EXPORT void CFRunLoopPerformBlock(CFRunLoopRef rl, CFTypeRef mode, void *block);

static void perform(void *block) {
    ((void (*)(void *))((struct block_layout *)block)->invoke)(block);
    cf__block_release(block);
}

static void discard(void *block) {
    cf__block_release(block);
}

/// The names in a string, an array or a set: malloc'ed, or NULL if it is none of them or memory ran out.
static const char **names_in(CFTypeRef modes, size_t *count) {
    CFTypeID type = modes ? CFGetTypeID(modes) : 0;
    CFIndex most = type == CF_TYPE_STRING ? 1 : 0;
    if (type == CF_TYPE_ARRAY)
        most = CFArrayGetCount(modes);
    else if (type == CF_TYPE_SET)
        most = CFSetGetCount(modes);
    else if (type != CF_TYPE_STRING)
        return NULL;
    const char **names = malloc(((size_t)most + 1) * sizeof *names);
    const void **values = malloc(((size_t)most + 1) * sizeof *values);
    *count = 0;
    if (names && values) {
        if (type == CF_TYPE_ARRAY)
            CFArrayGetValues(modes, CFRangeMake(0, most), values);
        else if (type == CF_TYPE_SET)
            CFSetGetValues(modes, values);
        else
            values[0] = modes;
        for (CFIndex i = 0; i < most; i++) {
            const char *name = CFGetTypeID(values[i]) == CF_TYPE_STRING ? cf__mode_name(values[i]) : NULL;
            if (name)
                names[(*count)++] = name;
        }
    } else {
        free(names);
        names = NULL;
    }
    free(values);
    return names;
}

void CFRunLoopPerformBlock(CFRunLoopRef rl, CFTypeRef mode, void *block) {
    runloop *core = cf__core_of_loop(rl);
    size_t count;
    const char **names = core && block ? names_in(mode, &count) : NULL;
    const void *copied = names ? cf__block_copy(block) : NULL;
    if (copied && runloop_perform_in_modes(core, names, count, perform, (void *)(uintptr_t)copied, discard))
        cf__block_release(copied);
    free(names);
}

//===-- handlers -----------------------------------------------------------------------------------------------------===//

CF_EXPORT CFRunLoopObserverRef CFRunLoopObserverCreateWithHandler(CFAllocatorRef allocator, CFOptionFlags activities,
                                                                  Boolean repeats, CFIndex order, void *block);
CF_EXPORT CFRunLoopTimerRef CFRunLoopTimerCreateWithHandler(CFAllocatorRef allocator, CFAbsoluteTime fireDate,
                                                            CFTimeInterval interval, CFOptionFlags flags, CFIndex order,
                                                            void *block);

static void observe(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *block) {
    ((void (*)(void *, CFRunLoopObserverRef, CFRunLoopActivity))((struct block_layout *)block)->invoke)(block, observer,
                                                                                                        activity);
}

static void fire(CFRunLoopTimerRef timer, void *block) {
    ((void (*)(void *, CFRunLoopTimerRef))((struct block_layout *)block)->invoke)(block, timer);
}

CFRunLoopObserverRef CFRunLoopObserverCreateWithHandler(CFAllocatorRef allocator, CFOptionFlags activities,
                                                        Boolean repeats, CFIndex order, void *block) {
    CFRunLoopObserverContext context = {0, block, cf__block_copy, cf__block_release, NULL};
    return block && _Block_copy ? CFRunLoopObserverCreate(allocator, activities, repeats, order, observe, &context)
                                : NULL;
}

CFRunLoopTimerRef CFRunLoopTimerCreateWithHandler(CFAllocatorRef allocator, CFAbsoluteTime fireDate,
                                                  CFTimeInterval interval, CFOptionFlags flags, CFIndex order,
                                                  void *block) {
    CFRunLoopTimerContext context = {0, block, cf__block_copy, cf__block_release, NULL};
    return block && _Block_copy ? CFRunLoopTimerCreate(allocator, fireDate, interval, flags, order, fire, &context)
                                : NULL;
}
