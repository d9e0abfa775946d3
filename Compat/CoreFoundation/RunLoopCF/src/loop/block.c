// block.c — blocks, whichever compiler builds this file: a block is a pointer to a published layout.
//
// The program's blocks runtime copies a block where one can be found. A program need not have one that is visible here: its linker
// takes `_Block_copy` from a static runtime only if the program itself calls it, and a library that is loaded with its symbols
// hidden keeps its runtime to itself. There the block is copied as the layout says, with the helpers that its compiler made.

#include "loop/loop.h"

#include <dlfcn.h>
#include <pthread.h>

enum {
    NEEDS_FREE = 1 << 24,  ///< allocated and counted by a runtime
    HAS_HELPERS = 1 << 25, ///< `copy` and `dispose` are there
    IS_GLOBAL = 1 << 28,   ///< never copied
    COUNT = 0xffff,        ///< the runtime's, if NEEDS_FREE is set
};

struct block_descriptor {
    unsigned long reserved, size;
    void (*copy)(void *to, const void *from);
    void (*dispose)(const void *block);
};

struct block {
    void *isa;
    int32_t flags, reserved;
    void (*invoke)(void);
    const struct block_descriptor *descriptor;
};

//===-- the runtime --------------------------------------------------------------------------------------------------===//

typedef void *(*copy_function)(const void *block);
typedef void (*release_function)(const void *block);

// Bound when this library is loaded; a runtime that is loaded later is looked up.
extern void *_Block_copy(const void *block) __attribute__((weak));
extern void _Block_release(const void *block) __attribute__((weak));
// Older C libraries keep it in a library of its own, which a program may do without.
#pragma weak dlsym

static void *look_up(const char *name, void *_Atomic *known) {
    void *function = atomic_load_explicit(known, memory_order_relaxed);
    if (!function && dlsym) {
        function = dlsym(RTLD_DEFAULT, name);
        atomic_store_explicit(known, function, memory_order_relaxed);
    }
    return function;
}

/// NULL as long as there is no runtime that this library can see.
static copy_function runtime_copy(void) {
    static void *_Atomic known;
    return _Block_copy ? _Block_copy : (copy_function)(uintptr_t)look_up("_Block_copy", &known);
}

static release_function runtime_release(void) {
    static void *_Atomic known;
    return _Block_release ? _Block_release : (release_function)(uintptr_t)look_up("_Block_release", &known);
}

//===-- copies -------------------------------------------------------------------------------------------------------===//

/// The flags of the copy are those of a block on the stack: a runtime that meets it copies it like one, and does not count it.
static struct block *copy_by_layout(const struct block *block) {
    struct block *copy = malloc(block->descriptor->size);
    if (!copy)
        return NULL;
    memcpy(copy, block, block->descriptor->size);
    copy->flags &= ~(NEEDS_FREE | COUNT);
    if (copy->flags & HAS_HELPERS)
        block->descriptor->copy(copy, block);
    return copy;
}

/// NULL when memory ran out.
static void *copy_block(const void *object) {
    const struct block *block = object;
    if (block->flags & IS_GLOBAL)
        return (void *)(uintptr_t)object;
    copy_function copy = runtime_copy();
    return copy ? copy(block) : copy_by_layout(block);
}

static void release_block(const void *object) {
    const struct block *block = object;
    if (block->flags & IS_GLOBAL)
        return;
    if (block->flags & NEEDS_FREE) {
        release_function release = runtime_release();
        if (release)
            release(block);
        return;
    }
    if (block->flags & HAS_HELPERS)
        block->descriptor->dispose(block);
    free((void *)(uintptr_t)object);
}

//===-- performing ---------------------------------------------------------------------------------------------------===//

CF_EXPORT void CFRunLoopPerformBlock(CFRunLoopRef rl, CFTypeRef mode, void *block);

static void discard(void *block) {
    release_block(block);
}

/// The block may end the thread.
static void perform(void *block) {
    pthread_cleanup_push(discard, block);
    ((void (*)(void *))((struct block *)block)->invoke)(block);
    pthread_cleanup_pop(true);
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
    bool is_complete = names && values;
    *count = 0;
    if (is_complete) {
        if (type == CF_TYPE_ARRAY)
            CFArrayGetValues(modes, CFRangeMake(0, most), values);
        else if (type == CF_TYPE_SET)
            CFSetGetValues(modes, values);
        else
            values[0] = modes;
    }
    for (CFIndex i = 0; is_complete && i < most; i++) {
        if (CFGetTypeID(values[i]) == CF_TYPE_STRING)
            is_complete = (names[(*count)++] = cf__mode_name(values[i]));
    }
    if (!is_complete) {
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
    void *copy = names ? copy_block(block) : NULL;
    if (copy && runloop_perform_in_modes(core, names, count, perform, copy, discard))
        release_block(copy);
    free(names);
}

//===-- handlers -----------------------------------------------------------------------------------------------------===//

CF_EXPORT CFRunLoopObserverRef CFRunLoopObserverCreateWithHandler(CFAllocatorRef allocator, CFOptionFlags activities,
                                                                  Boolean repeats, CFIndex order, void *block);
CF_EXPORT CFRunLoopTimerRef CFRunLoopTimerCreateWithHandler(CFAllocatorRef allocator, CFAbsoluteTime fireDate,
                                                            CFTimeInterval interval, CFOptionFlags flags, CFIndex order,
                                                            void *block);

static void observe(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *block) {
    ((void (*)(void *, CFRunLoopObserverRef, CFRunLoopActivity))((struct block *)block)->invoke)(block, observer,
                                                                                                 activity);
}

static void fire(CFRunLoopTimerRef timer, void *block) {
    ((void (*)(void *, CFRunLoopTimerRef))((struct block *)block)->invoke)(block, timer);
}

CFRunLoopObserverRef CFRunLoopObserverCreateWithHandler(CFAllocatorRef allocator, CFOptionFlags activities,
                                                        Boolean repeats, CFIndex order, void *block) {
    // The copy is handed over instead of being retained by the context, which would copy it once more.
    CFRunLoopObserverContext context = {.info = block ? copy_block(block) : NULL, .release = release_block};
    if (!context.info)
        return NULL;
    CFRunLoopObserverRef observer = CFRunLoopObserverCreate(allocator, activities, repeats, order, observe, &context);
    if (!observer)
        release_block(context.info);
    return observer;
}

CFRunLoopTimerRef CFRunLoopTimerCreateWithHandler(CFAllocatorRef allocator, CFAbsoluteTime fireDate,
                                                  CFTimeInterval interval, CFOptionFlags flags, CFIndex order,
                                                  void *block) {
    CFRunLoopTimerContext context = {.info = block ? copy_block(block) : NULL, .release = release_block};
    if (!context.info)
        return NULL;
    CFRunLoopTimerRef timer = CFRunLoopTimerCreate(allocator, fireDate, interval, flags, order, fire, &context);
    if (!timer)
        release_block(context.info);
    return timer;
}
