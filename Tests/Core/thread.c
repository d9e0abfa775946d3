// thread.c — what another thread removes from a sleeping loop is no longer called, and costs no iteration (R116).
#include "items.h"

static int fires, calls;

static int load(int *number) {
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

static void count_fire(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    __atomic_add_fetch(&fires, 1, __ATOMIC_ACQ_REL);
}

static void count_ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)info, (void)events;
    take(runloop_source_get_descriptor(source));
    __atomic_add_fetch(&calls, 1, __ATOMIC_ACQ_REL);
}

static void trace_mode_activities(void) {
    trace_activities(MODE);
}

static void start_sleeper(struct worker *worker) {
    worker->prepare = trace_mode_activities;
    start_worker(worker);
    wait_for_sleep(worker);
    EXPECT_TRACE("Entry T S W");
}

TEST("R54 R88 R116 a timer that another thread removes from a sleeping loop causes no empty iteration") {
    struct worker worker = {0};
    start_sleeper(&worker);
    for (int how = 0; how < 3; how++) {
        int64_t date = runloop_now_ns() + 30 * MS;
        runloop_timer *timer = make_timer(date, 0, count_fire, NULL);
        EXPECT_EQ(runloop_add_timer(worker.loop, timer, MODE), 0);
        if (how == 0)
            runloop_timer_invalidate(timer);
        else if (how == 1)
            runloop_remove_timer(worker.loop, timer, MODE);
        else
            runloop_timer_set_fire_date(timer, RUNLOOP_NEVER);
        bool in_time = runloop_now_ns() < date;
        pass_time(50 * MS);
        if (in_time) {
            EXPECT_EQ(load(&fires), 0);
            EXPECT_TRACE("");
        }
        runloop_timer_release(timer);
        // One that was removed too late may have fired.
        wait_for_sleep(&worker);
        __atomic_store_n(&fires, 0, __ATOMIC_RELEASE);
        trace_reset();
    }
    stop_worker(&worker);
}

TEST("R116 a descriptor source that another thread removes from a sleeping loop is no longer called") {
    struct worker worker = {0};
    start_sleeper(&worker);
    for (int how = 0; how < 2; how++) {
        int descriptor = make_eventfd(0);
        runloop_source *source = make_descriptor(descriptor, RUNLOOP_READABLE, count_ready, NULL);
        EXPECT_EQ(runloop_add_source(worker.loop, source, MODE), 0);
        how ? runloop_source_invalidate(source) : (void)runloop_remove_source(worker.loop, source, MODE);
        bump(descriptor);
        pass_time(20 * MS);
        EXPECT_EQ(load(&calls), 0);
        EXPECT_EQ(take(descriptor), 1);
        runloop_source_release(source);
    }
    EXPECT_TRACE("");
    stop_worker(&worker);
}
