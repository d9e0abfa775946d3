// core_scenarios.c — what the core does for a program: items, tasks, descriptors, nested and hosted runs, threads.
#include <poll.h>

#include "faults.h"
#include "runloop_foreign.h"

static _Atomic int calls;

static void count_timer(runloop_timer *timer, void *info) {
    (void)timer;
    count_call(info);
}

static void count_source(runloop_source *source, void *info) {
    (void)source;
    count_call(info);
}

static void count_ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source, (void)reasons;
    count_call(info);
}

static int add_timer(runloop_timer **timer, int64_t in_ns, int64_t interval_ns, int64_t tolerance_ns) {
    runloop_timer_config config = {
        {.info = (void *)&calls}, 0, runloop_now_ns() + in_ns, interval_ns, tolerance_ns, count_timer};
    int error = runloop_timer_create(&config, timer);
    return error ? error : runloop_add_timer(runloop_current(), *timer, MODE);
}

static enum outcome timer(void) {
    TIMER timer = NULL;
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    TRY_OF("runloop_add_timer", add_timer(&timer, MS, 0, 0));
    RUN_UNTIL(calls == 1);
    return outcome_of(calls == 1 && !runloop_contains_timer(loop, timer, MODE), 0);
}

static enum outcome repeating_timers(void) {
    TIMER first = NULL;
    TIMER second = NULL;
    calls = 0;
    begin_faults();
    TRY(runloop_current() ? 0 : -ENOMEM);
    TRY_OF("runloop_add_timer", add_timer(&first, MS, MS, MS / 2));
    TRY_OF("runloop_add_timer", add_timer(&second, SECOND, SECOND, 0));
    TRY(runloop_timer_set_fire_date(second, runloop_now_ns()));
    RUN_UNTIL(calls >= 4);
    return outcome_of(calls >= 4, 0);
}

static enum outcome signalled_source(void) {
    SOURCE source = NULL;
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_source_create(&(runloop_source_config){{.info = (void *)&calls}, .perform = count_source}, &source));
    TRY(runloop_add_source(loop, source, MODE));
    TRY(runloop_source_signal(source));
    RUN_UNTIL(calls == 1);
    return outcome_of(calls == 1, 0);
}

static enum outcome many_signalled_sources(void) {
    enum { COUNT = 70 };
    runloop_source *sources[COUNT] = {NULL};
    enum outcome outcome = AS_EXPECTED;
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    for (int i = 0; i < COUNT && outcome == AS_EXPECTED; i++) {
        runloop_source_config config = {{.info = (void *)&calls}, .order = i, .perform = count_source};
        int error = runloop_source_create(&config, &sources[i]);
        if (!error)
            error = runloop_add_source(loop, sources[i], i % 2 ? MODE : RUNLOOP_COMMON_MODES);
        if (!error)
            error = runloop_source_signal(sources[i]);
        if (error)
            outcome = told_of("runloop_add_source", error);
    }
    for (int i = 0; i < COUNT && outcome == AS_EXPECTED && calls < COUNT / 2; i++)
        runloop_run_in_mode(MODE, MS, true);
    for (int i = 0; i < COUNT && outcome == AS_EXPECTED && calls < COUNT; i++)
        runloop_run_in_mode(RUNLOOP_DEFAULT_MODE, MS, true);
    if (outcome == AS_EXPECTED)
        outcome = outcome_of(calls == COUNT, 0);
    for (int i = 0; i < COUNT; i++)
        end_source(&sources[i]);
    return outcome;
}

static void count_activity(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity;
    count_call(info);
}

static enum outcome observers(void) {
    OBSERVER first = NULL;
    OBSERVER second = NULL;
    TIMER timer = NULL;
    static _Atomic int activities;
    activities = calls = 0;
    begin_faults();
    GET_LOOP(loop);
    runloop_observer_config config = {{.info = (void *)&activities}, 0, RUNLOOP_ACTIVITY_ALL, true, count_activity};
    TRY(runloop_observer_create(&config, &first));
    config.repeats = false;
    TRY(runloop_observer_create(&config, &second));
    TRY(runloop_add_observer(loop, first, MODE));
    TRY(runloop_add_observer(loop, second, MODE));
    TRY_OF("runloop_add_timer", add_timer(&timer, MS, 0, 0));
    RUN_UNTIL(calls == 1);
    return outcome_of(calls == 1 && activities >= 7, 0);
}

static void *post_100(void *loop) {
    static _Atomic int refused;
    refused = 0;
    for (int i = 0; i < 100; i++)
        refused += runloop_post(loop, MODE, count_call, (void *)&calls, NULL) != 0;
    return (void *)(uintptr_t)refused;
}

static enum outcome posts_of_a_thread(void) {
    SOURCE source = NULL;
    pthread_t thread;
    void *refused;
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_source_create(&(runloop_source_config){.perform = NULL}, &source));
    TRY(runloop_add_source(loop, source, MODE));
    TRY_OF("pthread_create", -pthread_create(&thread, NULL, post_100, loop));
    pthread_join(thread, &refused);
    RUN_UNTIL(calls == 100 - (int)(uintptr_t)refused);
    return refused ? told_of("runloop_post", -ENOMEM) : outcome_of(calls == 100, 0);
}

static enum outcome tasks_in_modes(void) {
    static const char *const modes[] = {MODE, "other", RUNLOOP_COMMON_MODES};
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_perform_in_modes(loop, modes, 3, count_call, (void *)&calls, NULL));
    TRY(runloop_add_common_mode(loop, "third"));
    TRY(runloop_perform(loop, RUNLOOP_COMMON_MODES, count_call, (void *)&calls, NULL));
    TRY(runloop_run_in_mode(MODE, 0, false));
    TRY(runloop_run_in_mode("third", 0, false));
    // More, if an earlier try left one behind.
    return outcome_of(calls >= 2, 0);
}

static int add_descriptor(runloop_source **source, int descriptor, bool counter, const char *mode) {
    runloop_descriptor_config config = {{.info = (void *)&calls},
                                        .descriptor = descriptor,
                                        .events = RUNLOOP_READABLE,
                                        .counter = counter,
                                        .ready = count_ready};
    int error = runloop_descriptor_source_create(&config, source);
    return error ? error : runloop_add_source(runloop_current(), *source, mode);
}

static enum outcome descriptor(void) {
    SOURCE source = NULL;
    DESCRIPTOR ready = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    calls = 0;
    begin_faults();
    TRY(runloop_current() ? 0 : -ENOMEM);
    TRY_OF("runloop_add_source", add_descriptor(&source, ready, false, MODE));
    RUN_UNTIL(calls == 1);
    TRY(runloop_source_set_events(source, (runloop_readiness)0));
    TRY(runloop_run_in_mode(MODE, MS, true));
    TRY(runloop_source_set_events(source, RUNLOOP_READABLE));
    RUN_UNTIL(calls == 2);
    return outcome_of(calls == 2, 0);
}

/// It is not reported again: a run that had no memory for the call leaves it to the next one.
static enum outcome a_woken_source(void) {
    SOURCE source = NULL;
    DESCRIPTOR idle = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    calls = 0;
    begin_faults();
    TRY(runloop_current() ? 0 : -ENOMEM);
    TRY_OF("runloop_add_source", add_descriptor(&source, idle, false, MODE));
    TRY(runloop_source_wake(source));
    int result = -ENOMEM, error = 0;
    while (result == -ENOMEM) {
        result = runloop_run_in_mode(MODE, RUNLOOP_FOREVER, true);
        error = result < 0 ? result : error;
    }
    return calls == 1 ? outcome_or(!error, "runloop_run_in_mode", error) : LOST;
}

static enum outcome descriptors_in_modes(void) {
    enum { COUNT = 24 };
    static const char *const modes[] = {MODE, "faults 2", "faults 3"};
    runloop_source *sources[COUNT] = {NULL};
    int descriptors[COUNT];
    enum outcome outcome = AS_EXPECTED;
    for (int i = 0; i < COUNT; i++)
        descriptors[i] = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    calls = 0;
    begin_faults();
    for (int i = 0; i < COUNT && outcome == AS_EXPECTED; i++) {
        int error = runloop_current() ? add_descriptor(&sources[i], descriptors[i], true, modes[i % 3]) : -ENOMEM;
        if (error)
            outcome = told_of("runloop_add_source", error);
    }
    for (int i = 0; i < 3 * COUNT && outcome == AS_EXPECTED && calls < COUNT; i++) {
        int result = runloop_run_in_mode(modes[i % 3], 5 * MS, true);
        if (result < 0)
            outcome = told_of("runloop_run_in_mode", result);
    }
    if (outcome == AS_EXPECTED)
        outcome = outcome_of(calls == COUNT, 0);
    for (int i = 0; i < COUNT; i++) {
        end_source(&sources[i]);
        close(descriptors[i]);
    }
    return outcome;
}

static enum outcome deadline(void) {
    SOURCE source = NULL;
    DESCRIPTOR idle = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    calls = 0;
    begin_faults();
    TRY(runloop_current() ? 0 : -ENOMEM);
    TRY_OF("runloop_add_source", add_descriptor(&source, idle, false, MODE));
    TRY(runloop_source_set_deadline(source, runloop_now_ns() + MS));
    RUN_UNTIL(calls >= 1);
    return outcome_of(calls >= 1, 0);
}

static void *run_own_loop(void *result) {
    runloop_timer *timer = NULL;
    int error = runloop_current() ? add_timer(&timer, MS, 0, 0) : -ENOMEM;
    if (!error && runloop_run_in_mode(MODE, 3 * SECOND, false) < 0)
        error = -ENOMEM;
    end_timer(&timer);
    *(int *)result = error;
    return NULL;
}

static enum outcome loop_of_a_thread(void) {
    pthread_t thread;
    int error = 0;
    calls = 0;
    begin_faults();
    TRY_OF("pthread_create", -pthread_create(&thread, NULL, run_own_loop, &error));
    pthread_join(thread, NULL);
    return outcome_or(calls == 1 && !error, "runloop_current", error);
}

static void run_nested(void *info) {
    count_call(info);
    runloop_run_in_mode(MODE, 2 * MS, false);
}

static enum outcome nested_run(void) {
    TIMER timer = NULL;
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_perform(loop, MODE, run_nested, (void *)&calls, NULL));
    TRY_OF("runloop_add_timer", add_timer(&timer, MS, 0, 0));
    RUN_UNTIL(calls >= 2);
    // More, if an earlier try left its task behind.
    return outcome_of(calls >= 2, 0);
}

static enum outcome a_pass(void) {
    SOURCE first = NULL;
    SOURCE second = NULL;
    DESCRIPTOR one = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    DESCRIPTOR two = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    calls = 0;
    begin_faults();
    TRY(runloop_current() ? 0 : -ENOMEM);
    TRY_OF("runloop_add_source", add_descriptor(&first, one, true, MODE));
    TRY_OF("runloop_add_source", add_descriptor(&second, two, true, MODE));
    for (int i = 0; i < 3 && calls < 2; i++)
        TRY(runloop_run_pass(MODE, SECOND));
    return outcome_of(calls == 2, 0);
}

static enum outcome hosted_run(void) {
    TIMER timer = NULL;
    SOURCE source = NULL; // so that the mode is not empty once the timer has fired
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_source_create(&(runloop_source_config){.perform = NULL}, &source));
    TRY(runloop_add_source(loop, source, MODE));
    TRY_OF("runloop_add_timer", add_timer(&timer, MS, 0, 0));
    TRY(runloop_hosted_begin(MODE));
    const char *call = "runloop_hosted_descriptor";
    int error = runloop_hosted_descriptor();
    struct pollfd polled = {.fd = error, .events = POLLIN};
    bool has_posted = false;
    for (int i = 0; i < 3000 && calls < 2 && error >= 0; i++) {
        poll(&polled, 1, 1);
        int result = runloop_hosted_iterate(0);
        if (calls == 1 && !has_posted) {
            error = runloop_post(loop, MODE, count_call, (void *)&calls, NULL);
            call = "runloop_post";
            has_posted = true;
        }
        if (result < 0 && result != -EAGAIN) {
            error = result;
            call = "runloop_hosted_iterate";
        }
        if (result > 0 && calls < 2)
            break;
    }
    int ended = runloop_hosted_end();
    return error < 0 ? outcome_or(calls == 2, call, error) : outcome_or(calls == 2, "runloop_hosted_end", ended);
}

static int prepare(runloop_foreign_source *source, struct pollfd *descriptors, int capacity, int64_t *deadline_ns,
                   void *info) {
    (void)source, (void)deadline_ns;
    if (capacity > 0)
        descriptors[0] = (struct pollfd){.fd = *(int *)info, .events = POLLIN};
    return 1;
}

static bool check(runloop_foreign_source *source, struct pollfd *descriptors, int count, void *info) {
    (void)source, (void)info;
    return count > 0 && (descriptors[0].revents & POLLIN);
}

static void dispatch(runloop_foreign_source *source, void *info) {
    (void)source;
    uint64_t value;
    OWN(MUST(read(*(int *)info, &value, sizeof value) == sizeof value));
    calls++;
}

static enum outcome guest(void) {
    DESCRIPTOR ready = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    runloop_foreign_source *source = NULL;
    runloop_foreign_source_config config = {
        .context.info = &ready, .prepare = prepare, .check = check, .dispatch = dispatch};
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_foreign_source_create(&config, &source));
    int error = runloop_add_foreign_source(loop, source, MODE);
    int64_t end_ns = runloop_now_ns() + 3 * SECOND;
    while (!error && calls == 0 && runloop_now_ns() < end_ns) {
        int result = runloop_run_in_mode(MODE, 20 * MS, true);
        error = result < 0 ? result : 0;
    }
    runloop_foreign_source_invalidate(source);
    runloop_foreign_source_release(source);
    return outcome_or(calls == 1, "runloop_add_foreign_source", error);
}

const struct scenario core_scenarios[] = {
    {"a timer", timer},
    {"repeating timers with tolerance", repeating_timers},
    {"a signalled source", signalled_source},
    {"seventy signalled sources", many_signalled_sources},
    {"observers", observers},
    {"posts of a thread", posts_of_a_thread},
    {"tasks in modes", tasks_in_modes},
    {"a descriptor", descriptor},
    {"a woken source", a_woken_source},
    {"24 counters in three modes", descriptors_in_modes},
    {"a deadline", deadline},
    {"a thread's loop", loop_of_a_thread},
    {"a nested run", nested_run},
    {"a pass", a_pass},
    {"a hosted run", hosted_run},
    {"a guest", guest},
    {"everything", everything},
    {"everything until memory runs out", everything_until_memory_runs_out},
    {0},
};
