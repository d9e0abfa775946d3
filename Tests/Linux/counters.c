// counters.c — what a counter leaves as it was, and when it calls.
#include "linux_items.h"

struct sums {
    int calls;
    uint64_t sum;
};

static void note_sum(runloop_counter *counter, uint64_t sum, void *info) {
    struct sums *sums = info;
    (void)counter;
    EXPECT(sum > 0);
    sums->calls++;
    sums->sum += sum;
}

static runloop_counter *add_counter(struct sums *sums) {
    runloop_counter *counter = NULL;
    REQUIRE(runloop_counter_create(&(runloop_counter_config){.context.info = sums, .counted = note_sum}, &counter) ==
            0);
    REQUIRE(runloop_add_source(runloop_current(), counter, MODE) == 0);
    return counter;
}

TEST("a counter adds up what comes before it is called, and is called for nothing else") {
    struct sums sums = {0};
    runloop_counter *counter = add_counter(&sums);
    EXPECT_EQ(runloop_counter_add(counter, 3), 0);
    EXPECT_EQ(runloop_counter_add(counter, 4), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT(sums.calls == 1 && sums.sum == 7);
    EXPECT_EQ(runloop_source_signal(counter), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(sums.calls, 1);
    EXPECT_EQ(runloop_counter_add(counter, 0), -EINVAL);
    end_source(counter);
}

TEST("errno stays as it was in a call that adds, as signal handlers have it, also in one that fails") {
    struct sums sums = {0};
    runloop_counter *counter = add_counter(&sums);
    enum { SOME_ERROR = 77 };
    errno = SOME_ERROR;
    EXPECT_EQ(runloop_counter_add(counter, UINT64_MAX - 1), 0);
    EXPECT_EQ(errno, SOME_ERROR);
    // There is no space for it.
    EXPECT_EQ(runloop_counter_add(counter, 1), -EAGAIN);
    EXPECT_EQ(errno, SOME_ERROR);
    RUN_UNTIL(MODE, sums.calls == 1);
    EXPECT(sums.sum == UINT64_MAX - 1);
    end_source(counter);
}
