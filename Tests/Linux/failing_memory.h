// failing_memory.h — allocations that fail, for programs that are linked with failing_memory of Tests/bin/c-tests.
#ifndef RUNLOOP_TEST_FAILING_MEMORY_H
#define RUNLOOP_TEST_FAILING_MEMORY_H

#include "linux_items.h"

/// The allocation that fails, counted from 1; 0: none. How many there were, and of how many bytes.
static _Atomic long failing, allocations;
static _Atomic size_t allocated;

static inline bool fails(size_t size) {
    allocations++;
    allocated += size;
    return failing > 0 && --failing == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);

void *__wrap_malloc(size_t size) {
    return fails(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails(count * size) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *pointer, size_t size) {
    return fails(size) ? NULL : __real_realloc(pointer, size);
}

/// `create` makes an object and frees it again, and gives the result of making it. Each of its allocations fails once: that is its result, and
/// nothing is left. Then there is no descriptor for it.
static inline void expect_failures_without_traces(int (*create)(void)) {
    // What a process has once, it has from here on.
    runloop_current();
    EXPECT_EQ(create(), 0);
    int before = count_descriptors();
    bool is_over = false;
    for (long allocation = 1; !is_over; allocation++) {
        failing = allocation;
        int result = create();
        is_over = failing > 0;
        failing = 0;
        EXPECT_EQ(result, is_over ? 0 : -ENOMEM);
        EXPECT_EQ(count_descriptors(), before);
        EXPECT(allocation > 1 || !is_over);
    }
    use_up_descriptors(0);
    EXPECT_EQ(create(), -EMFILE);
    give_back_descriptors();
}

/// On a thread that is to be cancelled.
static inline void *create_cancelled(void *create) {
    int (*const *creation)(void) = create;
    pthread_cancel(pthread_self());
    (*creation)();
    return NULL;
}

/// Each allocation fails once, on a thread that ends at its first cancellation point; then another thread makes one.
static inline void expect_failures_of_cancelled_threads(int (*create)(void)) {
    bool is_over = false;
    for (long allocation = 1; !is_over; allocation++) {
        pthread_t thread;
        failing = allocation;
        REQUIRE(pthread_create(&thread, NULL, create_cancelled, &create) == 0);
        REQUIRE(pthread_join(thread, NULL) == 0);
        is_over = failing > 0;
        failing = 0;
    }
    EXPECT_EQ(create(), 0);
}

#endif // RUNLOOP_TEST_FAILING_MEMORY_H
