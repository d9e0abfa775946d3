// statistics.c — what a loop does, counted by its thread, and read by any.

#ifdef __linux__
#include "followed.h"
#include "histogram.h"

struct statistics {
    struct follower follower;
    // Written by the loop's thread, read by any. Up to the name, these are numbers, one after the other.
    counted start_ns, stop_ns, running_ns, asleep_ns, sleep_begin_ns;
    counted iteration_begin_ns, asleep_before_ns; ///< of the outermost run's iteration; 0: none
    counted runs, iterations, sleeps, callouts[RUNLOOP_CALLOUT_KINDS];
    struct histogram sleep, iteration, callout, lateness, post_to_run;
    counted longest_kind;
    _Atomic char longest_name[sizeof((runloop_statistics *)0)->longest_name];
};

static struct statistics *statistics_of(struct follower *follower) {
    return (struct statistics *)follower;
}

//===-- durations ----------------------------------------------------------------------------------------------------===//

// While a run or a sleep goes on, its total is kept less the instant at which it began. That is negative, since no total is longer than the time
// since the start. So a total and whether it grows are one word: a reader sees a beginning, or an end, as a whole.

static void begin(counted *total, int64_t now_ns) {
    atomic_store_explicit(total, counted_get(total) - now_ns, memory_order_release);
}

/// A reader that sees the end of a run sees that of the sleeps in it.
static void end(counted *total, int64_t now_ns) {
    atomic_store_explicit(total, counted_get(total) + now_ns, memory_order_release);
}

static bool goes_on(int64_t total) {
    return total < 0;
}

static int64_t total_at(int64_t total, int64_t now_ns) {
    return goes_on(total) ? total + now_ns : total;
}

//===-- counting -----------------------------------------------------------------------------------------------------===//

static void end_iteration(struct statistics *counts, int64_t now_ns) {
    int64_t begin_ns = counted_get(&counts->iteration_begin_ns);
    int64_t asleep_ns = total_at(counted_get(&counts->asleep_ns), now_ns) - counted_get(&counts->asleep_before_ns);
    if (begin_ns)
        histogram_add(&counts->iteration, now_ns - begin_ns - asleep_ns);
    counted_set(&counts->iteration_begin_ns, 0);
}

static void end_run(struct statistics *counts, int64_t now_ns) {
    // One that had begun before the statistics ends unseen.
    if (counts->follower.activity->run_depth > 0 || !goes_on(counted_get(&counts->running_ns)))
        return;
    end_iteration(counts, now_ns);
    end(&counts->running_ns, now_ns);
}

static void begin_iteration(struct statistics *counts, int64_t now_ns) {
    counted_add(&counts->iterations, 1);
    if (counts->follower.activity->run_depth > 1)
        return;
    end_iteration(counts, now_ns);
    counted_set(&counts->iteration_begin_ns, now_ns);
    counted_set(&counts->asleep_before_ns, total_at(counted_get(&counts->asleep_ns), now_ns));
}

static void begin_sleep(struct statistics *counts, int64_t now_ns) {
    // Another tracer may have kept the end of the last one from this.
    if (goes_on(counted_get(&counts->asleep_ns)))
        return;
    counted_set(&counts->sleep_begin_ns, now_ns);
    begin(&counts->asleep_ns, now_ns);
}

static void end_sleep(struct statistics *counts, int64_t now_ns) {
    if (!goes_on(counted_get(&counts->asleep_ns)))
        return;
    end(&counts->asleep_ns, now_ns);
    counted_add(&counts->sleeps, 1);
    histogram_add(&counts->sleep, now_ns - counted_get(&counts->sleep_begin_ns));
}

static void name_longest(struct statistics *counts, const struct callout *callout) {
    char name[sizeof counts->longest_name] = "";
    copy_name(name, sizeof name, callout->name, callout->line);
    counted_set(&counts->longest_kind, callout->kind);
    for (size_t i = 0; i < sizeof name; i++)
        atomic_store_explicit(&counts->longest_name[i], name[i], memory_order_relaxed);
}

/// Those that began before the statistics return unseen.
static void end_callout(struct statistics *counts, const struct moment *moment) {
    int64_t begin_ns = moment->callout ? moment->callout->begin_ns : 0;
    if (begin_ns < counted_get(&counts->start_ns))
        return;
    int64_t duration_ns = moment->now_ns - begin_ns;
    bool is_longest = duration_ns > counted_get(&counts->callout.max_ns);
    histogram_add(&counts->callout, duration_ns);
    if (is_longest)
        name_longest(counts, moment->callout);
}

/// By the clock of the date.
static void count_lateness(struct statistics *counts, const struct moment *moment) {
    int64_t date_ns = runloop_timer_get_fire_date((runloop_timer *)(uintptr_t)moment->object);
    int64_t now_ns = moment->value ? runloop_now_ns() : moment->now_ns;
    histogram_add(&counts->lateness, duration_between(date_ns, now_ns));
}

static void count(struct follower *follower, const struct moment *moment) {
    struct statistics *counts = statistics_of(follower);
    int64_t now_ns = moment->now_ns;
    // The statistics may have been started inside the run.
    if (!goes_on(counted_get(&counts->running_ns)) && follower->activity->run_depth > 0)
        begin(&counts->running_ns, now_ns);
    switch (moment->point) {
    case RUNLOOP_TRACE_RUN_BEGIN: counted_add(&counts->runs, 1); break;
    case RUNLOOP_TRACE_RUN_END: end_run(counts, now_ns); break;
    case RUNLOOP_TRACE_ITERATION: begin_iteration(counts, now_ns); break;
    case RUNLOOP_TRACE_SLEEP: begin_sleep(counts, now_ns); break;
    case RUNLOOP_TRACE_WAKE: end_sleep(counts, now_ns); break;
    case RUNLOOP_TRACE_TASKS:
        if (moment->value)
            histogram_add(&counts->post_to_run, now_ns - moment->value);
        break;
    case RUNLOOP_TRACE_RETURN: end_callout(counts, moment); break;
    default:
        counted_add(&counts->callouts[callout_kind(moment->point)], 1);
        if (moment->point == RUNLOOP_TRACE_TIMER)
            count_lateness(counts, moment);
    }
}

//===-- starting and reading -----------------------------------------------------------------------------------------===//

static void clear(struct statistics *counts) {
    for (counted *number = &counts->start_ns; number <= &counts->longest_kind; number++)
        counted_set(number, 0);
    atomic_store_explicit(&counts->longest_name[0], 0, memory_order_relaxed);
}

static void prepare(struct follower *follower) {
    follower->trace = count;
}

int runloop_statistics_start(void) {
    struct follower *follower;
    int error = followed_start(ROLE_STATISTICS, sizeof(struct statistics), prepare, &follower);
    if (error || follower->is_active)
        return error;
    struct statistics *counts = statistics_of(follower);
    clear(counts);
    counted_set(&counts->start_ns, runloop_get_now_ns(NULL));
    follower->is_active = true;
    return 0;
}

void runloop_statistics_stop(void) {
    struct follower *follower = followed_stop(ROLE_STATISTICS);
    struct statistics *counts = follower ? statistics_of(follower) : NULL;
    if (!counts || counted_get(&counts->stop_ns))
        return;
    int64_t now_ns = runloop_get_now_ns(NULL);
    if (goes_on(counted_get(&counts->running_ns)))
        end(&counts->running_ns, now_ns);
    counted_set(&counts->stop_ns, now_ns);
}

static void copy(const struct statistics *counts, runloop_statistics *out) {
    int64_t running_ns, asleep_ns, now_ns;
    // An instant within the period that the totals cover.
    do {
        asleep_ns = atomic_load(&counts->asleep_ns);
        running_ns = atomic_load(&counts->running_ns);
        int64_t stop_ns = atomic_load(&counts->stop_ns);
        now_ns = stop_ns ? stop_ns : runloop_get_now_ns(NULL);
    } while (asleep_ns != atomic_load(&counts->asleep_ns) || running_ns != atomic_load(&counts->running_ns));
    // A copy of the whole would be on the stack, which may be small.
    memset(out, 0, sizeof *out);
    out->elapsed_ns = now_ns - counted_get(&counts->start_ns);
    out->running_ns = total_at(running_ns, now_ns);
    out->asleep_ns = total_at(asleep_ns, now_ns);
    out->runs = (uint64_t)counted_get(&counts->runs);
    out->iterations = (uint64_t)counted_get(&counts->iterations);
    out->sleeps = (uint64_t)counted_get(&counts->sleeps);
    out->awake_iterations = (uint64_t)counted_get(&counts->follower.activity->awake_iterations);
    out->longest_kind = (int)counted_get(&counts->longest_kind);
    for (int kind = 0; kind < RUNLOOP_CALLOUT_KINDS; kind++)
        out->callouts[kind] = (uint64_t)counted_get(&counts->callouts[kind]);
    histogram_copy(&counts->sleep, &out->sleep);
    histogram_copy(&counts->iteration, &out->iteration);
    histogram_copy(&counts->callout, &out->callout);
    histogram_copy(&counts->lateness, &out->lateness);
    histogram_copy(&counts->post_to_run, &out->post_to_run);
    for (size_t i = 0; i < sizeof out->longest_name - 1; i++)
        out->longest_name[i] = atomic_load_explicit(&counts->longest_name[i], memory_order_relaxed);
}

int runloop_statistics_copy(runloop *loop, runloop_statistics *out) {
    if (!loop || !out)
        return -EINVAL;
    struct followed *followed = followed_copy(loop);
    if (!followed)
        return -ENOENT;
    struct follower *follower = atomic_load_explicit(&followed->followers[ROLE_STATISTICS], memory_order_acquire);
    if (follower)
        copy(statistics_of(follower), out);
    followed_release(followed);
    return follower ? 0 : -ENOENT;
}
#endif // __linux__
