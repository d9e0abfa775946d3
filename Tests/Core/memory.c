// memory.c — what came for a burst goes back to the allocator, whichever that is. Its functions are wrapped by the linker, so that
// this file counts what the core has of it.
#include <malloc.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "items.h"

enum { MANY = 400000, WAITS = 100 };

//===-- counting ---------------------------------------------------------------------------------------------------===//

static _Atomic size_t held, most_held;

static void count(size_t size) {
    size_t now = held += size, most = most_held;
    while (now > most && !atomic_compare_exchange_weak(&most_held, &most, now))
        ;
}

static void *counted(void *memory) {
    if (memory)
        count(malloc_usable_size(memory));
    return memory;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);
void *__real_mmap(void *address, size_t length, int protection, int flags, int file, off_t offset);
int __real_munmap(void *address, size_t length);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *memory);
void *__wrap_mmap(void *address, size_t length, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *address, size_t length);

void *__wrap_malloc(size_t size) {
    return counted(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size) {
    return counted(__real_calloc(number, size));
}

void *__wrap_realloc(void *memory, size_t size) {
    size_t before = memory ? malloc_usable_size(memory) : 0;
    void *moved = __real_realloc(memory, size);
    if (moved) {
        held -= before;
        counted(moved);
    }
    return moved;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return counted(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *memory) {
    if (memory)
        held -= malloc_usable_size(memory);
    __real_free(memory);
}

void *__wrap_mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    void *memory = __real_mmap(address, length, protection, flags, file, offset);
    if (memory != MAP_FAILED)
        count(length);
    return memory;
}

int __wrap_munmap(void *address, size_t length) {
    held -= length;
    return __real_munmap(address, length);
}

static size_t before_burst;

static void begin_burst(void) {
    before_burst = most_held = held;
}

/// Each item of the burst took some memory, and of all that no more than a part is kept for the next burst.
static void expect_given_back(void) {
    size_t most = most_held - before_burst;
    EXPECT(most >= MANY * sizeof(void *));
    EXPECT(held <= before_burst + most / 4);
}

//===-- bursts -----------------------------------------------------------------------------------------------------===//

TEST("a burst of timers gives its memory back after some waits without another") {
    runloop_timer **timers = calloc(MANY, sizeof *timers);
    add_timer(MODE, runloop_now_ns() + 1000 * SECOND, 0, NULL, NULL);
    begin_burst();
    for (int burst = 0; burst < 2; burst++) {
        for (int i = 0; i < MANY; i++)
            timers[i] = add_timer(MODE, runloop_now_ns() + 1000 * SECOND, 0, NULL, NULL);
        for (int i = 0; i < MANY; i++)
            runloop_timer_invalidate(timers[i]);
    }
    for (int i = 0; i < WAITS; i++)
        poll_mode(MODE);
    expect_given_back();
    free(timers);
}

static int performed;

static void perform_and_stop_after_all(void *info) {
    if (++performed == MANY)
        runloop_stop(info);
}

static void *post_many(void *loop) {
    for (int i = 0; i < MANY; i++)
        EXPECT_EQ(runloop_post(loop, RUNLOOP_DEFAULT_MODE, perform_and_stop_after_all, loop, NULL), 0);
    return NULL;
}

TEST("a burst of posts from another thread gives its memory back once it is performed") {
    runloop *loop = runloop_current();
    begin_burst();
    on_new_thread(post_many, loop);
    EXPECT_EQ(runloop_run(), RUNLOOP_RESULT_STOPPED);
    EXPECT_EQ(performed, MANY);
    expect_given_back();
}
