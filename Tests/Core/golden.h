// golden.h — the language of the golden traces, which are compared twice. Here a trace is a test of the core: its words are those of
// Tests/Rules/dsl.h as far as golden traces need them, made of this folder's helpers. For the conformance suite, which defines
// GOLDEN_ARE_SCENARIOS, each is a scenario that CoreFoundation plays too.
//
//   GOLDEN(nothing_ready, "G1 R31", "a polling run with nothing ready", "E T S X -> TimedOut") { … }
//
// The trace: E T S W A X stand for the activities from Entry to Exit, other words are the names of what is called, and after the
// arrow stands the result. Actions are functions: DO(stop).
#ifndef RUNLOOP_GOLDEN_H
#define RUNLOOP_GOLDEN_H

#ifdef GOLDEN_ARE_SCENARIOS

#include "dsl.h"

#define GOLDEN(identifier, rules, sentence, trace) SCENARIO_ON(identifier, rules, sentence, false, trace)
#define GOLDEN_ON_MAIN(identifier, rules, sentence, trace) SCENARIO_ON(identifier, rules, sentence, true, trace)
#define DO(function)                                                                                                   \
    BLOCK_POINTER {                                                                                                    \
        function();                                                                                                    \
    }

#else

#include "trace_helpers.h"

#define P "P"
#define Q "Q"
#define PAST (-1000.0)
#define RETURN true
#define GO_ON false
#define DO(function) function

#define GOLDEN_WITH(identifier, rules, sentence, expected, play)                                                       \
    static void golden_##identifier(void);                                                                             \
    TEST(rules " " sentence) {                                                                                         \
        play(golden_##identifier);                                                                                     \
        EXPECT_TRACE(expected);                                                                                        \
    }                                                                                                                  \
    static void golden_##identifier(void)
#define GOLDEN(identifier, rules, sentence, trace) GOLDEN_WITH(identifier, rules, sentence, trace, play_on_new_thread)
#define GOLDEN_ON_MAIN(identifier, rules, sentence, trace) GOLDEN_WITH(identifier, rules, sentence, trace, play)

//===-- items, which are called by their names --------------------------------------------------------------------===//

static struct golden_item {
    const char *name;
    runloop_source *source;
    runloop_timer *timer;
    int descriptor;
    int64_t date_ns;
    int64_t ticks;
} golden_items[16];
static int golden_count;

static inline struct golden_item *golden_new(const char *name) {
    REQUIRE(golden_count < 16);
    golden_items[golden_count].name = name;
    return &golden_items[golden_count++];
}

static inline struct golden_item *golden_named(const char *name) {
    int i = 0;
    while (i < golden_count && strcmp(golden_items[i].name, name) != 0)
        i++;
    REQUIRE(i < golden_count);
    return &golden_items[i];
}

static inline void source(const char *name, int order, const char *mode, action perform) {
    runloop_source *made = golden_new(name)->source = traced_source(name, order, perform);
    REQUIRE(runloop_add_source(loop, made, mode) == 0);
}

static inline void quiet(const char *mode) {
    add_source("", NULL, mode);
}

static inline void signal_source(const char *name) {
    runloop_source_signal(golden_named(name)->source);
}

static inline void counter(const char *name, const char *mode, action perform) {
    add_descriptor(name, golden_new(name)->descriptor = new_counter(), true, perform, mode);
}

static inline void ready(const char *name) {
    count_up(golden_named(name)->descriptor);
}

static inline void timer(const char *name, double due_ms, double interval_ms, const char *mode, action fire) {
    struct golden_item *item = golden_new(name);
    item->timer = add_timer(name, (int64_t)(due_ms * MS), (int64_t)(interval_ms * MS), fire, mode);
    item->date_ns = runloop_timer_get_fire_date(item->timer);
}

static inline void block(const char *name, const char *mode, action perform_it) {
    perform(name, perform_it, mode);
}

/// Traces its name with the letter of the activity, the only one that it observes.
static inline void observer(const char *name, const char *letter, int order, const char *mode, action told) {
    static char words[4][16];
    static int count;
    REQUIRE(count < 4);
    snprintf(words[count], sizeof words[count], "%s:%s", name, letter);
    for (runloop_activity activity = 1; activity <= RUNLOOP_ACTIVITY_EXIT; activity <<= 1) {
        if (RUNLOOP_ACTIVITY_ALL & activity && strcmp(activity_letter(activity), letter) == 0)
            add_observer(words[count], activity, order, true, told, mode);
    }
    count++;
}

/// Traces whether a timer that is firing does so on its grid, not early, and that many intervals after the time before, or more.
static inline void on_grid(const char *name, int at_least) {
    struct golden_item *item = golden_named(name);
    int64_t date = runloop_timer_get_fire_date(item->timer), interval = runloop_timer_get_interval(item->timer);
    int64_t ticks = (date - item->date_ns) / interval;
    bool on = (date - item->date_ns) % interval == 0 && ticks - item->ticks >= at_least && runloop_now_ns() >= date;
    trace(on ? "on the grid" : "off the grid");
    item->ticks = ticks;
}

//===-- time, runs, threads ---------------------------------------------------------------------------------------===//

static inline void nap(double milliseconds) {
    spend((int64_t)(milliseconds * MS));
}

static inline void outlast(const char *name) {
    spend(golden_named(name)->date_ns - runloop_now_ns() + 5 * MS);
}

static inline void stop(void) {
    stop_loop();
}

static inline void wake(void) {
    wake_loop();
}

static inline void run_for_seconds(const char *mode, double seconds, bool return_after_source) {
    run(mode, (int64_t)(seconds * SECOND), return_after_source);
}

static inline void timed_run(const char *mode, double seconds, bool return_after_source) {
    int64_t limit = (int64_t)(seconds * SECOND), start = runloop_now_ns();
    char word[48];
    int result = runloop_run_in_mode(mode, limit, return_after_source);
    int64_t took = runloop_now_ns() - start;
    snprintf(word, sizeof word, "-> %s, %s", result_name(result),
             took < limit / 2 ? "at once"
             : took >= limit  ? "at the limit"
                              : "late");
    trace(word);
}
#define run run_for_seconds

static action golden_asleep[4];
static _Atomic int golden_asleep_count;

static inline size_t trace_length(void) {
    pthread_mutex_lock(&test_trace_lock);
    size_t length = strlen(test_trace_text);
    pthread_mutex_unlock(&test_trace_lock);
    return length;
}

/// Asleep again is a loop that has told of something since.
static inline void golden_help(void) {
    for (int i = 0; i < golden_asleep_count; i++) {
        wait_until_asleep();
        size_t told = trace_length();
        golden_asleep[i]();
        WAIT_UNTIL(trace_length() > told);
    }
}

static inline void when_asleep(action act) {
    REQUIRE(golden_asleep_count < 4);
    golden_asleep[golden_asleep_count] = act;
    if (++golden_asleep_count == 1)
        start_helper(golden_help);
}

static inline void play(void (*body)(void)) {
    begin();
    body();
    if (golden_asleep_count > 0)
        join_helper();
}

static inline void *golden_thread(void *body) {
    play(*(void (**)(void))body);
    return NULL;
}

static inline void play_on_new_thread(void (*body)(void)) {
    on_new_thread(golden_thread, &body);
}

#endif
#endif // RUNLOOP_GOLDEN_H
