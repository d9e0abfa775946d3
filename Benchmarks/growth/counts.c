// counts.c — what grows in number instead of in time. With N timers due within 200 ms, each with a tolerance: how often the thread wakes,
// beside the fewest wake-ups that serve all of them in time. With N functions waiting while four threads post more: how many of them are
// performed between the instant at which a timer or a descriptor is due and its call, beside how many the loop performs at a time.

#define _GNU_SOURCE // RUSAGE_THREAD
#include "growth.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

static const int64_t ms_ns = 1000000;

//===-- wake-ups by timers with a tolerance --------------------------------------------------------------------------===//

struct window {
    int64_t opens_ns, closes_ns;
};

static size_t timers_left;

static void fire(runloop_timer *timer, void *info) {
    (void)info;
    runloop_timer_release(timer);
    if (--timers_left == 0)
        runloop_stop(growth_loop);
}

static int compare_ends(const void *a, const void *b) {
    const struct window *left = a, *right = b;
    return (left->closes_ns > right->closes_ns) - (left->closes_ns < right->closes_ns);
}

/// Each wake-up as late as the first window allows.
static uint64_t fewest_wakeups(struct window *windows, size_t count) {
    qsort(windows, count, sizeof *windows, compare_ends);
    uint64_t wakeups = 0;
    int64_t last_ns = 0;
    for (size_t i = 0; i < count; i++) {
        if (windows[i].opens_ns <= last_ns)
            continue;
        last_ns = windows[i].closes_ns;
        wakeups++;
    }
    return wakeups;
}

static void add_timer(const struct window *window) {
    runloop_timer_config config = {
        .fire_ns = window->opens_ns, .tolerance_ns = window->closes_ns - window->opens_ns, .fire = fire};
    runloop_timer *timer = NULL;
    growth_check(runloop_timer_create(&config, &timer) == 0, "timer");
    growth_check(runloop_add_timer(growth_loop, timer, growth_mode) == 0, "add timer");
}

/// How often the thread has slept and was woken.
static uint64_t sleeps(void) {
    struct rusage usage;
    growth_check(getrusage(RUSAGE_THREAD, &usage) == 0, "usage");
    return (uint64_t)usage.ru_nvcsw;
}

static struct growth_counted wakeups(size_t count, int64_t least_ns, int64_t most_ns) {
    struct window *windows = growth_array(count, sizeof *windows);
    int64_t start_ns = runloop_now_ns() + 100 * ms_ns;
    for (size_t i = 0; i < count; i++) {
        int64_t opens_ns = start_ns + (int64_t)growth_random(200 * 1000000);
        int64_t tolerance_ns = least_ns + (int64_t)growth_random((size_t)(most_ns - least_ns) + 1);
        windows[i] = (struct window){opens_ns, opens_ns + tolerance_ns};
        add_timer(&windows[i]);
    }
    timers_left = count;
    uint64_t before = sleeps();
    runloop_run_in_mode(growth_mode, RUNLOOP_FOREVER, false);
    struct growth_counted counted = {.count = sleeps() - before, .reference = fewest_wakeups(windows, count)};
    free(windows);
    return counted;
}

static struct growth_counted wakeups_of_1_ms(size_t count) {
    return wakeups(count, ms_ns, ms_ns);
}

static struct growth_counted wakeups_of_10_ms(size_t count) {
    return wakeups(count, 10 * ms_ns, 10 * ms_ns);
}

static struct growth_counted wakeups_of_many_tolerances(size_t count) {
    return wakeups(count, ms_ns, 50 * ms_ns);
}

static struct growth_counted wakeups_beside_an_exact_timer(size_t count) {
    int64_t later_ns = runloop_now_ns() + 3600 * 1000 * ms_ns;
    add_timer(&(struct window){later_ns, later_ns});
    return wakeups(count, 10 * ms_ns, 10 * ms_ns);
}

//===-- a flood of functions -----------------------------------------------------------------------------------------===//

enum { PRODUCERS = 4, TURNS = 200, PERFORMED_AT_A_TIME = 1024 };

static _Atomic size_t waiting; ///< functions posted and not yet performed
static _Atomic bool is_over;
static size_t waiting_at_most;
static int64_t due_ns;
static uint64_t late, latest; ///< functions performed since the item was due
static int turns;

static void perform(void *info) {
    (void)info;
    atomic_fetch_sub_explicit(&waiting, 1, memory_order_relaxed);
    late += runloop_now_ns() >= due_ns;
}

static void post(void) {
    atomic_fetch_add_explicit(&waiting, 1, memory_order_relaxed);
    growth_check(runloop_post(growth_loop, growth_mode, perform, NULL, NULL) == 0, "post");
}

static void *produce(void *unused) {
    while (!atomic_load(&is_over)) {
        if (atomic_load_explicit(&waiting, memory_order_relaxed) < waiting_at_most)
            post();
        else
            sched_yield();
    }
    return unused;
}

/// The item has had its turn, and is due again after the given time.
static void take_turn(int64_t pause_ns) {
    latest = late > latest ? late : latest;
    late = 0;
    due_ns = runloop_now_ns() + pause_ns;
    if (++turns == TURNS)
        runloop_stop(growth_loop);
}

static void tick(runloop_timer *timer, void *info) {
    (void)info;
    take_turn(ms_ns);
    runloop_timer_set_fire_date(timer, due_ns);
}

static void find_ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events, (void)info;
    take_turn(0);
}

static struct growth_counted flood(size_t count) {
    pthread_t threads[PRODUCERS];
    waiting_at_most = count;
    due_ns = runloop_now_ns() + ms_ns;
    while (atomic_load(&waiting) < count)
        post();
    for (int i = 0; i < PRODUCERS; i++)
        growth_check(pthread_create(&threads[i], NULL, produce, NULL) == 0, "thread");
    runloop_run_in_mode(growth_mode, RUNLOOP_FOREVER, false);
    atomic_store(&is_over, true);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    return (struct growth_counted){.count = latest, .reference = PERFORMED_AT_A_TIME};
}

static void add_ticking_timer(void) {
    runloop_timer_config config = {.fire_ns = runloop_now_ns() + ms_ns, .interval_ns = 1000 * ms_ns, .fire = tick};
    runloop_timer *timer = NULL;
    growth_check(runloop_timer_create(&config, &timer) == 0, "timer");
    growth_check(runloop_add_timer(growth_loop, timer, growth_mode) == 0, "add timer");
}

static struct growth_counted flood_and_timer(size_t count) {
    add_ticking_timer();
    return flood(count);
}

static struct growth_counted flood_and_descriptor(size_t count) {
    runloop_descriptor_config config = {
        .descriptor = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC), .events = RUNLOOP_READABLE, .ready = find_ready};
    runloop_source *source = NULL;
    growth_check(runloop_descriptor_source_create(&config, &source) == 0, "source");
    growth_check(runloop_add_source(growth_loop, source, growth_mode) == 0, "add source");
    return flood(count);
}

const struct growth_count growth_counts[] = {
    {"wake-ups, 1 ms", wakeups_of_1_ms},
    {"wake-ups, 10 ms", wakeups_of_10_ms},
    {"wake-ups, 1 to 50 ms", wakeups_of_many_tolerances},
    {"wake-ups, an exact timer", wakeups_beside_an_exact_timer},
    {"flood, timer", flood_and_timer},
    {"flood, descriptor", flood_and_descriptor},
    {0},
};
