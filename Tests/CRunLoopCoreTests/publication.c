// publication.c — what a thread writes before it signals a source or wakes a loop is seen by what follows, also if the signal or the wake-up
// is one too many (R49, R62): the one before it is just being served.
#include <sched.h>

#include "items.h"

enum { ROUNDS = UNDER_SANITIZER ? 20000 : 200000, FEWEST_ROUNDS = 100, DELAY_AT_MOST = 512 };
/// Where two threads share a processor, a round takes two slices of time.
static const int64_t stops_after_ns = 5 * SECOND;

static runloop *loop;
static runloop_source *source;
static long written, seen, iterations, rounds;
static bool over;

static long load(long *number) {
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

/// Gives its turn away where the other thread seems to need it.
static void await(long *number, long value) {
    for (int looks = 1; load(number) < value; looks++) {
        if (looks % 4096 == 0)
            sched_yield();
    }
}

/// The loop's thread, in a call-out that a signal or a wake-up leads to.
static void note_seen(void) {
    __atomic_store_n(&seen, __atomic_load_n(&written, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
}

static void perform(runloop_source *performed, void *info) {
    (void)performed, (void)info;
    note_seen();
}

static void observe(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    note_seen();
}

/// Writes the number a moment later, at any distance from what the loop does meanwhile.
static void write_late(long number) {
    static uint32_t seed = 1;
    seed = seed * 1664525U + 1013904223U;
    for (uint32_t delay = (seed >> 16) % DELAY_AT_MOST; delay > 0; delay--)
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&written, number, __ATOMIC_RELAXED);
}

static void *signal_twice(void *unused) {
    int64_t end_ns = runloop_now_ns() + stops_after_ns;
    for (long i = 1; i <= ROUNDS && load(&seen) == i - 1 && (i <= FEWEST_ROUNDS || runloop_now_ns() < end_ns); i++) {
        rounds = i;
        runloop_source_signal(source);
        write_late(i);
        runloop_source_signal(source);
        await(&iterations, load(&iterations) + 2);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    return unused;
}

TEST("R62 a source performs after each signal, and sees what was written before it") {
    source = add_source(MODE, perform, NULL);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, signal_twice, NULL) == 0);
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        poll_mode(MODE);
        __atomic_add_fetch(&iterations, 1, __ATOMIC_RELEASE);
    }
    pthread_join(thread, NULL);
    EXPECT(seen == rounds && rounds >= FEWEST_ROUNDS);
}

static void *wake_twice(void *unused) {
    int64_t end_ns = runloop_now_ns() + stops_after_ns;
    for (long i = 1; i <= ROUNDS && (i <= FEWEST_ROUNDS || runloop_now_ns() < end_ns); i++) {
        rounds = i;
        runloop_wake_up(loop);
        write_late(i);
        runloop_wake_up(loop);
        // Nothing else happens in this round: what is not seen by then is seen never, and the test's time runs out.
        await(&seen, i);
    }
    runloop_stop_latched(loop);
    return unused;
}

TEST("R49 an iteration follows each wake-up, and sees what was written before it") {
    loop = runloop_current();
    keep_mode(MODE);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS, observe, NULL);
    // What is served without a sleep in between comes close to what is written.
    REQUIRE(runloop_set_spin(loop, RUNLOOP_SPIN_LIMIT_MAX) == 0);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, wake_twice, NULL) == 0);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    pthread_join(thread, NULL);
    EXPECT(seen == rounds && rounds >= FEWEST_ROUNDS);
}
