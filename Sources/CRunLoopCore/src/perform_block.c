// perform_block.c — blocks as performed functions. Built by any compiler: a block is a pointer to a published layout, and the blocks
// runtime is asked for weakly, so that programs without blocks need no library for them.

#include "internal.h"

RUNLOOP_EXPORT int runloop_perform_block(runloop *loop, const char *mode, void *block);
RUNLOOP_EXPORT int runloop_post_block(runloop *loop, const char *mode, void *block);

extern void *_Block_copy(const void *block) __attribute__((weak));
extern void _Block_release(const void *block) __attribute__((weak));

struct block_layout {
    void *isa;
    int32_t flags, reserved;
    void (*invoke)(void *block);
};

static void discard(void *block) {
    _Block_release(block);
}

static void perform(void *block) {
    ((struct block_layout *)block)->invoke(block);
    _Block_release(block);
}

static int enqueue(runloop *loop, const char *mode, void *block,
                   int (*enqueue_function)(runloop *, const char *, runloop_function, void *, runloop_function)) {
    if (!block)
        return -EINVAL;
    if (!_Block_copy || !_Block_release)
        return -ENOSYS;
    void *copied = _Block_copy(block);
    if (!copied)
        return -ENOMEM;
    int error = enqueue_function(loop, mode, perform, copied, discard);
    if (error)
        _Block_release(copied);
    return error;
}

int runloop_perform_block(runloop *loop, const char *mode, void *block) {
    return enqueue(loop, mode, block, runloop_perform);
}

int runloop_post_block(runloop *loop, const char *mode, void *block) {
    return enqueue(loop, mode, block, runloop_post);
}
