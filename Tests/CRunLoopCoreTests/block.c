// block.c — the recycled blocks, by themselves: this program is built with its own copy of them, whatever the sanitizer.
#define RUNLOOP_BLOCKS_ARE_RECYCLED
#define RUNLOOP_BUILDING_CORE
#define runloop__block_new tested_block_new
#define runloop__block_free tested_block_free
#include "../../Sources/CRunLoopCore/src/block.c"
#undef lock

#include <malloc.h>
#include <sys/wait.h>

#include "test.h"

enum { MANY = 100000 };

static void **blocks;

static void take_all(int count) {
    blocks = calloc((size_t)count, sizeof *blocks);
    for (int i = 0; i < count; i++) {
        REQUIRE((blocks[i] = tested_block_new()));
        // A block that was given out twice is seen when it is looked at.
        *(void **)blocks[i] = &blocks[i];
    }
}

static void check_all(int count) {
    for (int i = 0; i < count; i++)
        REQUIRE(*(void **)blocks[i] == &blocks[i]);
}

static void give_all(int count) {
    for (int i = 0; i < count; i++)
        tested_block_free(blocks[i]);
    free(blocks);
}

/// Sanitizers have an allocator of their own, which doesn't say.
static size_t bytes_in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/// What the store keeps, and what stays because a thread keeps one block in each.
enum { KEPT_AT_MOST = (UNUSED_AT_MOST + BATCH) * PAGES_AT_MOST * PAGE, TAKEN = MANY * RUNLOOP__BLOCK_SIZE };

TEST("a block is a cache line of its own, and nobody else's") {
    take_all(MANY);
    for (int i = 0; i < MANY; i++)
        REQUIRE((uintptr_t)blocks[i] % RUNLOOP__BLOCK_SIZE == 0);
    check_all(MANY);
    give_all(MANY);
}

TEST("what was freed is used again, the last first") {
    void *first = tested_block_new(), *second = tested_block_new();
    tested_block_free(first);
    tested_block_free(second);
    EXPECT(tested_block_new() == second);
    EXPECT(tested_block_new() == first);
    tested_block_free(first);
    tested_block_free(second);
}

TEST("a burst goes back, but for what is kept for the next one") {
    size_t before = bytes_in_use();
    take_all(MANY);
    EXPECT(RUNLOOP__HAS_SANITIZER || bytes_in_use() >= before + TAKEN);
    // In another order than they were taken.
    for (int i = 0; i < MANY; i++) {
        int other = (int)((uint64_t)i * 7919 % MANY);
        void *block = blocks[i];
        blocks[i] = blocks[other];
        blocks[other] = block;
    }
    give_all(MANY);
    EXPECT(RUNLOOP__HAS_SANITIZER || bytes_in_use() <= before + KEPT_AT_MOST);
}

TEST("blocks of two pages that are freed in turn all go back, each once") {
    size_t before = bytes_in_use();
    take_all(MANY);
    for (int i = 0; i < MANY / 2; i++) {
        tested_block_free(blocks[i]);
        tested_block_free(blocks[MANY / 2 + i]);
    }
    free(blocks);
    EXPECT(RUNLOOP__HAS_SANITIZER || bytes_in_use() <= before + KEPT_AT_MOST);
    take_all(MANY);
    check_all(MANY);
    give_all(MANY);
}

static void *give_on_another_thread(void *unused) {
    (void)unused;
    give_all(MANY);
    return NULL;
}

TEST("what one thread takes another may free, and a thread that ends leaves nothing behind") {
    size_t before = bytes_in_use();
    for (int round = 0; round < 20; round++) {
        pthread_t thread;
        take_all(MANY);
        check_all(MANY);
        REQUIRE(pthread_create(&thread, NULL, give_on_another_thread, NULL) == 0);
        pthread_join(thread, NULL);
    }
    EXPECT(RUNLOOP__HAS_SANITIZER || bytes_in_use() <= before + KEPT_AT_MOST);
}

static void *churn(void *unused) {
    void *some[150] = {NULL};
    unsigned random = (unsigned)(uintptr_t)&some;
    for (int i = 0; i < 200000; i++) {
        void **slot = &some[(random = random * 1664525 + 1013904223) >> 8 & 127];
        if (*slot) {
            REQUIRE(*(void **)*slot == slot);
            tested_block_free(*slot);
            *slot = NULL;
        } else {
            *slot = tested_block_new();
            *(void **)*slot = slot;
        }
    }
    for (int i = 0; i < 150; i++) {
        if (some[i])
            tested_block_free(some[i]);
    }
    return unused;
}

TEST("threads that come and go share the store") {
    pthread_t threads[8];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++)
            REQUIRE(pthread_create(&threads[i], NULL, churn, NULL) == 0);
        for (int i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
    }
}

static _Atomic bool forks_are_over;

static void *churn_until_over(void *unused) {
    while (!forks_are_over)
        churn(NULL);
    return unused;
}

TEST("a forked child takes and frees blocks, whatever other threads of its parent were doing") {
    // The first block sets the store up. If a fork catches a thread in pthread_once, the child goes on with that of the C library, and
    // waits for ever with that of the thread sanitizer.
    tested_block_free(tested_block_new());
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, churn_until_over, NULL) == 0);
    for (int i = 0; i < 30; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            take_all(1000);
            check_all(1000);
            give_all(1000);
            _exit(0);
        }
        int status = -1;
        REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
        EXPECT_EQ(status, 0);
    }
    forks_are_over = true;
    pthread_join(thread, NULL);
}
