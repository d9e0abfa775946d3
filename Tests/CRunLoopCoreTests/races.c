// races.c — requests to a loop at the moment in which it goes to sleep, thousands of times (R25, R46, R49, R83, R104).
// RUNLOOP_STRESS_SECONDS (2 if unset) sets how long each test runs.
#include "items.h"

#include <sched.h>

static long accepted, ran, answered, asked;
static bool over;

static long load(long *number) {
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

static unsigned dice(unsigned *seed, unsigned sides) {
    *seed = *seed * 1664525U + 1013904223U;
    return (*seed >> 16) % sides;
}

static int64_t stress_end(void) {
    const char *seconds = getenv("RUNLOOP_STRESS_SECONDS");
    int64_t duration_ns = seconds ? (int64_t)(atof(seconds) * 1e9) : 2 * SECOND;
    alarm((unsigned)(duration_ns / SECOND) + 120);
    return runloop_now_ns() + duration_ns;
}

/// Spins until `number` is at least `value`, and then a little longer, so that the next request comes at a random moment.
static void await(long *number, long value, unsigned *seed) {
    for (int64_t deadline = runloop_now_ns() + 30 * SECOND; load(number) < value; sched_yield())
        REQUIRE(runloop_now_ns() < deadline);
    for (unsigned i = dice(seed, 2000); i; i--)
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

//===-- signals, wake-ups, tasks ---------------------------------------------------------------------------------------===//

static void count_perform(runloop_source *source, void *info) {
    (void)source, (void)info;
    __atomic_add_fetch(&ran, 1, __ATOMIC_ACQ_REL);
}

TEST("R49 of twenty thousand signals with wake-ups, each answered before the next, none is lost") {
    struct worker worker = {0};
    unsigned seed = 1;
    stress_end();
    start_worker(&worker);
    runloop_source *source = make_source(count_perform, NULL);
    EXPECT_EQ(runloop_add_source(worker.loop, source, MODE), 0);
    for (long i = 1; i <= 20000; i++) {
        runloop_source_signal(source);
        runloop_wake_up(worker.loop);
        await(&ran, i, &seed);
    }
    EXPECT_EQ(ran, 20000);
    stop_worker(&worker);
    runloop_source_release(source);
}

static runloop *the_loop;
static runloop_source *the_source;

static void *run_for_each_signal(void *unused) {
    (void)unused;
    the_source = add_source(MODE, count_perform, NULL);
    __atomic_store_n(&the_loop, runloop_retain(runloop_current()), __ATOMIC_RELEASE);
    while (load(&ran) < 10000)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    return NULL;
}

TEST("R49 nor is one lost by a run that is being entered or left, as each returns after one source") {
    pthread_t thread;
    unsigned seed = 1;
    stress_end();
    REQUIRE(pthread_create(&thread, NULL, run_for_each_signal, NULL) == 0);
    WAIT_UNTIL(__atomic_load_n(&the_loop, __ATOMIC_ACQUIRE));
    for (long i = 1; i <= 10000; i++) {
        runloop_source_signal(the_source);
        runloop_wake_up(the_loop);
        await(&ran, i, &seed);
    }
    REQUIRE(pthread_join(thread, NULL) == 0);
    runloop_release(the_loop);
}

static void answer(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    __atomic_store_n(&answered, load(&asked), __ATOMIC_RELEASE);
}

static void answer_questions(void) {
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS, answer, NULL);
}

TEST("R49 R50 a wake-up alone ends a sleep or prevents the next, whenever it comes") {
    struct worker worker = {.prepare = answer_questions};
    unsigned seed = 1;
    stress_end();
    start_worker(&worker);
    for (long i = 1; i <= 20000; i++) {
        __atomic_store_n(&asked, i, __ATOMIC_RELEASE);
        runloop_wake_up(worker.loop);
        await(&answered, i, &seed); // Every iteration first checks for the request.
    }
    stop_worker(&worker);
}

static void count_function(void *info) {
    (void)info;
    __atomic_add_fetch(&ran, 1, __ATOMIC_ACQ_REL);
}

static void *post_many(void *loop) {
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        EXPECT_EQ(runloop_post(loop, MODE, count_function, NULL, NULL), 0);
        if (__atomic_add_fetch(&accepted, 1, __ATOMIC_ACQ_REL) - load(&ran) > 10000)
            sched_yield();
    }
    return NULL;
}

TEST("R49 R104 tasks posted by several threads to a sleeping loop all run, including the last") {
    struct worker worker = {0};
    int64_t end = stress_end();
    start_worker(&worker);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        REQUIRE(pthread_create(&threads[i], NULL, post_many, worker.loop) == 0);
    pass_time(end - runloop_now_ns()); // The threads contend for that long.
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    WAIT_UNTIL(load(&ran) == accepted); // Without any further wake-up.
    stop_worker(&worker);
}

//===-- stops, and a mode that becomes empty ---------------------------------------------------------------------------===//

static void *run_again_and_again(void *unused) {
    (void)unused;
    keep_mode(MODE);
    __atomic_store_n(&the_loop, runloop_retain(runloop_current()), __ATOMIC_RELEASE);
    while (load(&answered) < 10000) {
        EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
        __atomic_add_fetch(&answered, 1, __ATOMIC_ACQ_REL);
    }
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT); // No stop is left.
    return NULL;
}

TEST("R46 R47 a latched stop and a stop of a mode end exactly one run each, whenever they come") {
    pthread_t thread;
    unsigned seed = 1;
    stress_end();
    REQUIRE(pthread_create(&thread, NULL, run_again_and_again, NULL) == 0);
    WAIT_UNTIL(__atomic_load_n(&the_loop, __ATOMIC_ACQUIRE));
    for (long i = 1; i <= 10000; i++) {
        EXPECT_EQ(i % 2 ? runloop_stop_latched(the_loop) : runloop_stop_mode(the_loop, MODE), 0);
        await(&answered, i, &seed);
    }
    REQUIRE(pthread_join(thread, NULL) == 0);
    runloop_release(the_loop);
}

static void *run_on_one_item(void *unused) {
    (void)unused;
    __atomic_store_n(&the_loop, runloop_retain(runloop_current()), __ATOMIC_RELEASE);
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        EXPECT_EQ(runloop_add_source(the_loop, the_source, MODE), 0);
        __atomic_add_fetch(&asked, 1, __ATOMIC_ACQ_REL);
        EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_FINISHED);
    }
    return NULL;
}

TEST("R25 a run finishes when its last item is removed, whenever that is") {
    pthread_t thread;
    unsigned seed = 1;
    stress_end();
    the_source = make_source(NULL, NULL);
    REQUIRE(pthread_create(&thread, NULL, run_on_one_item, NULL) == 0);
    for (long i = 1; i <= 10000; i++) {
        await(&asked, i, &seed);
        if (i == 10000)
            __atomic_store_n(&over, true, __ATOMIC_RELEASE);
        EXPECT_EQ(runloop_remove_source(the_loop, the_source, MODE), 0);
    }
    REQUIRE(pthread_join(thread, NULL) == 0);
    runloop_release(the_loop);
    runloop_source_release(the_source);
}

//===-- timers -------------------------------------------------------------------------------------------------------===//

static void count_fire(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    __atomic_add_fetch(&ran, 1, __ATOMIC_ACQ_REL);
}

TEST("R83 R116 a timer whose date another thread keeps changing fires after the last date") {
    struct worker worker = {0};
    unsigned seed = 1;
    int64_t end = stress_end();
    start_worker(&worker);
    runloop_timer *timer = make_timer(RUNLOOP_NEVER, 3600 * SECOND, count_fire, NULL);
    EXPECT_EQ(runloop_add_timer(worker.loop, timer, MODE), 0);
    while (runloop_now_ns() < end) {
        for (unsigned moves = dice(&seed, 20); moves; moves--)
            EXPECT_EQ(runloop_timer_set_fire_date(timer, runloop_now_ns() + 50 * SECOND + dice(&seed, 1000)), 0);
        long before = load(&ran);
        EXPECT_EQ(runloop_timer_set_fire_date(timer, runloop_now_ns() + dice(&seed, 300) * 1000), 0);
        await(&ran, before + 1, &seed);
    }
    stop_worker(&worker);
    runloop_timer_release(timer);
}

TEST("R87 R116 timers that another thread adds all fire, whenever they are added") {
    struct worker worker = {0};
    unsigned seed = 1;
    int64_t end = stress_end();
    start_worker(&worker);
    for (long i = 1; runloop_now_ns() < end; i++) {
        int64_t in_ns = dice(&seed, 2) ? 0 : dice(&seed, 300) * 1000;
        runloop_timer *timer = make_timer(runloop_now_ns() + in_ns, 0, count_fire, NULL);
        EXPECT_EQ(runloop_add_timer(worker.loop, timer, MODE), 0);
        runloop_timer_release(timer);
        await(&ran, i, &seed);
    }
    stop_worker(&worker);
}
