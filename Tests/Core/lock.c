// lock.c — the one kind of lock that there is, by itself. That a thread sleeps while another one has it is tested in real_time.c, and what a
// fork leaves behind in fork_ways.c.
#include "test.h"

#include "runloop_lock.h"

static struct process_lock lock;
enum { THREADS = 3, PAIRS = 50000 };
static uint64_t guarded[2];

/// If two threads are ever inside together, the sum is wrong, the halves differ, and the thread sanitizer reports it.
static void *contend(void *unused) {
    for (int i = 0; i < PAIRS; i++) {
        EXPECT(process_lock(&lock));
        REQUIRE(guarded[0] == guarded[1]);
        guarded[0]++;
        guarded[1]++;
        process_unlock(&lock);
    }
    return unused;
}

TEST("R116 only one thread has a lock at a time, and none that waits for it is forgotten") {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, contend, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EXPECT_EQ(guarded[0], (uint64_t)THREADS * PAIRS);
    EXPECT_EQ(lock.word, 0);
}
