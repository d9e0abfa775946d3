// block.c — blocks as tasks. Built by any compiler: a block is a pointer to a published layout, and the blocks runtime is asked for
// weakly, so that programs without blocks need no library for them. One that is loaded later is found when it is needed.

#ifdef __linux__
#include <dlfcn.h>

#include "items/items.h"

RUNLOOP_EXPORT int runloop_perform_block(runloop *loop, const char *mode, void *block);
RUNLOOP_EXPORT int runloop_post_block(runloop *loop, const char *mode, void *block);

extern void *_Block_copy(const void *block) __attribute__((weak));
extern void _Block_release(const void *block) __attribute__((weak));

struct block_layout {
    void *isa;
    int32_t flags, reserved;
    void (*invoke)(void *block);
};

/// A block that captures nothing needs neither copy nor release.
enum { BLOCK_IS_GLOBAL = 1 << 28 };

static void *copied(void *block) {
    if (((struct block_layout *)block)->flags & BLOCK_IS_GLOBAL)
        return block;
    void *(*copy)(const void *) = _Block_copy;
    if (!copy)
        copy = (void *(*)(const void *))(uintptr_t)dlsym(RTLD_DEFAULT, "_Block_copy");
    return copy ? copy(block) : NULL;
}

static bool can_copy(const void *block) {
    return (((const struct block_layout *)block)->flags & BLOCK_IS_GLOBAL) || _Block_copy ||
           dlsym(RTLD_DEFAULT, "_Block_copy");
}

static void discard(void *block) {
    if (((struct block_layout *)block)->flags & BLOCK_IS_GLOBAL)
        return;
    void (*release)(const void *) = _Block_release;
    if (!release)
        release = (void (*)(const void *))(uintptr_t)dlsym(RTLD_DEFAULT, "_Block_release");
    if (release)
        release(block);
}

static void perform(void *block) {
    ((struct block_layout *)block)->invoke(block);
    discard(block);
}

static int enqueue(runloop *loop, const char *mode, void *block,
                   int (*enqueue_function)(runloop *, const char *, runloop_function, void *, runloop_function)) {
    if (!block)
        return -EINVAL;
    if (!can_copy(block))
        return -ENOSYS;
    void *copy = copied(block);
    if (!copy)
        return -ENOMEM;
    int error = enqueue_function(loop, mode, perform, copy, discard);
    if (error)
        discard(copy);
    return error;
}

int runloop_perform_block(runloop *loop, const char *mode, void *block) {
    return enqueue(loop, mode, block, runloop_perform);
}

int runloop_post_block(runloop *loop, const char *mode, void *block) {
    return enqueue(loop, mode, block, runloop_post);
}
#endif // __linux__
