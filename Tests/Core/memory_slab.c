// memory_slab.c — the slab of tasks and timers by itself (base/slab.c): blocks that threads pass to one another, bursts that go back to the
// kernel, forks. Its maps are counted. Under sanitizers each block is an allocation of its own, and nothing is mapped.
#include "forks.h"

#include <signal.h>
#include <sys/mman.h>

#include "base/base.h"

enum { CHUNK_SIZE = 1 << 16, KEPT_CHUNKS = 16, BATCH = 64 };

static int64_t mapped; // bytes

void *__real_mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
    void *memory = __real_mmap(address, size, protection, flags, descriptor, offset);
    if (memory != MAP_FAILED)
        __atomic_fetch_add(&mapped, (int64_t)size, __ATOMIC_RELAXED);
    return memory;
}

int __real_munmap(void *address, size_t size);
int __wrap_munmap(void *address, size_t size);
int __wrap_munmap(void *address, size_t size) {
    __atomic_fetch_sub(&mapped, (int64_t)size, __ATOMIC_RELAXED);
    return __real_munmap(address, size);
}

// The other allocations of this program are as they are.
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);
void *__wrap_malloc(size_t size) {
    return __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
    return __real_calloc(count, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return __real_aligned_alloc(alignment, size);
}
void *__wrap_realloc(void *memory, size_t size) {
    return __real_realloc(memory, size);
}
void __wrap_free(void *memory) {
    __real_free(memory);
}

static const size_t sizes[SLAB_CLASSES] = {SLAB_TASK_SIZE, SLAB_TIMER_SIZE, SLAB_REPEATING_TIMER_SIZE};

enum { BURST = 20000 };
static void *blocks[BURST];

/// Every byte of a block is its owner's: each says which block it is.
static void fill(int from, int to, enum slab_class class) {
    for (int i = from; i < to; i++) {
        REQUIRE((blocks[i] = runloop__slab_new(class)) != NULL);
        memset(blocks[i], i % 251, sizes[class]);
    }
}

static void expect_filled(int from, int to, enum slab_class class) {
    for (int i = from; i < to; i++) {
        unsigned char *bytes = blocks[i];
        for (size_t k = 0; k < sizes[class]; k++)
            REQUIRE(bytes[k] == i % 251);
    }
}

static void empty(int from, int to, enum slab_class class) {
    for (int i = from; i < to; i++)
        runloop__slab_free(class, blocks[i]);
}

static void expect_bounded(int64_t before) {
    // Besides, this thread keeps blocks of some chunks.
    EXPECT(UNDER_SANITIZER || mapped - before <= (int64_t)(KEPT_CHUNKS + 8) * CHUNK_SIZE);
}

TEST("blocks don't overlap, are aligned, and a burst of them goes back to the kernel but for a few chunks") {
    for (int kind = 0; kind < SLAB_CLASSES; kind++) {
        int64_t before = mapped;
        for (int round = 0; round < 3; round++) {
            fill(0, BURST, kind);
            EXPECT(UNDER_SANITIZER || mapped - before >= (int64_t)sizes[kind] * BURST);
            expect_filled(0, BURST, kind);
            EXPECT_EQ((uintptr_t)blocks[BURST / 2] % 16, 0);
            empty(0, BURST, kind);
            expect_bounded(before);
        }
        // In another order.
        fill(0, BURST, kind);
        for (int step = 0; step < 7; step++)
            for (int i = step; i < BURST; i += 7)
                runloop__slab_free(kind, blocks[i]);
        expect_bounded(before);
    }
}

static void *empty_all(void *unused) {
    empty(0, BURST, SLAB_TASK);
    return unused;
}

TEST("blocks that other threads give back go back to the kernel too, and those that an ended thread kept") {
    int64_t before = mapped;
    for (int round = 0; round < 5; round++) {
        fill(0, BURST, SLAB_TASK);
        expect_filled(0, BURST, SLAB_TASK);
        on_new_thread(empty_all, NULL);
    }
    // Threads' own stacks are libc's business.
    EXPECT(UNDER_SANITIZER || mapped - before <= (int64_t)(KEPT_CHUNKS + 4) * CHUNK_SIZE + (16 << 20));
    fill(0, BATCH, SLAB_TASK);
    empty(0, BATCH, SLAB_TASK);
}

enum { THREADS = 4, PASSED = 200000, PLACES = 1024 };
static _Atomic(void *) places[PLACES];

/// Each block is taken by one thread and given back by another, in no order.
static void *pass_blocks(void *seed_) {
    unsigned seed = (unsigned)(uintptr_t)seed_;
    for (int i = 0; i < PASSED; i++) {
        seed = seed * 1664525U + 1013904223U;
        uint64_t *block = runloop__slab_new(SLAB_TIMER);
        REQUIRE(block);
        block[0] = block[SLAB_TIMER_SIZE / 8 - 1] = (uintptr_t)block;
        uint64_t *other = atomic_exchange(&places[seed >> 16 & (PLACES - 1)], block);
        if (!other)
            continue;
        REQUIRE(other[0] == (uintptr_t)other && other[SLAB_TIMER_SIZE / 8 - 1] == (uintptr_t)other);
        other[0] = 0;
        runloop__slab_free(SLAB_TIMER, other);
    }
    return NULL;
}

TEST("threads pass blocks to one another, and nobody has a block twice") {
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, pass_blocks, (void *)(i + 1)) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PLACES; i++)
        if (places[i])
            runloop__slab_free(SLAB_TIMER, places[i]);
}

static pthread_key_t late;

static void use_late(void *rounds) {
    for (int kind = 0; kind < SLAB_CLASSES; kind++) {
        void *some[3];
        for (int i = 0; i < 3; i++)
            REQUIRE((some[i] = runloop__slab_new(kind)) != NULL);
        for (int i = 0; i < 3; i++)
            runloop__slab_free(kind, some[i]);
    }
    if ((uintptr_t)rounds > 1)
        pthread_setspecific(late, (void *)((uintptr_t)rounds - 1));
}

static void *end_with_late_use(void *unused) {
    pthread_setspecific(late, (void *)(uintptr_t)4);
    fill(0, 100, SLAB_TIMER);
    empty(0, 100, SLAB_TIMER);
    return unused;
}

TEST("key destructors may use blocks after the thread has given back what it kept, and nothing stays behind") {
    if (UNDER_THREAD_SANITIZER)
        LEAVE_OUT("The sanitizer has left the thread by then.");
    REQUIRE(pthread_key_create(&late, use_late) == 0);
    on_new_thread(end_with_late_use, NULL); // the chunks that are kept, and the stack that libc keeps
    int64_t before = mapped;
    for (int i = 0; i < 300; i++)
        on_new_thread(end_with_late_use, NULL);
    EXPECT(UNDER_SANITIZER || mapped - before <= 0);
}

static bool over;

static void *take_and_give(void *seed_) {
    unsigned seed = (unsigned)(uintptr_t)seed_;
    void *own[300] = {0};
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        seed = seed * 1664525U + 1013904223U;
        void **place = &own[(seed >> 16) % 300];
        if (*place)
            runloop__slab_free(SLAB_TASK, *place);
        *place = *place ? NULL : runloop__slab_new(SLAB_TASK);
    }
    for (int i = 0; i < 300; i++)
        if (own[i])
            runloop__slab_free(SLAB_TASK, own[i]);
    return NULL;
}

TEST("R123 a child can use blocks, its own and inherited ones, whatever other threads did at the fork") {
    if (UNDER_SANITIZER)
        LEAVE_OUT("The sanitizers' allocators have locks that are not free in every child.");
    pthread_t threads[2];
    for (uintptr_t i = 0; i < 2; i++)
        REQUIRE(pthread_create(&threads[i], NULL, take_and_give, (void *)(i + 1)) == 0);
    fill(0, 1000, SLAB_TASK);
    for (int i = 0, count = count_ways(); i < 200; i++) {
        fflush(NULL);
        pid_t child = ways[i % count]();
        if (child == 0) {
            test_end_after(20);
            expect_filled(0, 1000, SLAB_TASK);
            fill(1000, 6000, SLAB_TASK);
            expect_filled(0, 6000, SLAB_TASK);
            empty(0, 6000, SLAB_TASK);
            fill(0, 6000, SLAB_TASK);
            expect_filled(0, 6000, SLAB_TASK);
            _exit(0);
        }
        int status = -1;
        REQUIRE(waitpid(child, &status, 0) == child);
        EXPECT_EQ(status, 0);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    empty(0, 1000, SLAB_TASK);
}
