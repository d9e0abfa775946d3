// bad_input.c — every public call with invalid arguments: the documented error, and a loop that works afterwards.
#include "items.h"

#include <sys/socket.h>

static runloop *loop;
static runloop_source *source, *descriptor, *invalid_source;
static runloop_timer *timer, *invalid_timer;
static runloop_observer *observer, *invalid_observer;

/// Items of every kind in no loop, and an invalid one of each.
static void make_items(void) {
    loop = runloop_current();
    source = make_source(trace_perform, "source");
    descriptor = make_descriptor(make_eventfd(0), RUNLOOP_READABLE, NULL, NULL);
    timer = make_timer(RUNLOOP_NEVER, 0, NULL, NULL);
    observer = make_observer(RUNLOOP_ACTIVITY_ALL, NULL, NULL);
    invalid_source = make_source(trace_perform, "invalid");
    runloop_source_invalidate(invalid_source);
    invalid_timer = make_timer(0, 0, trace_fire, "invalid");
    runloop_timer_invalidate(invalid_timer);
    invalid_observer = make_observer(RUNLOOP_ACTIVITY_ALL, trace_activity, NULL);
    runloop_observer_invalidate(invalid_observer);
}

static void release_items(void) {
    runloop_source_release(source);
    runloop_source_release(descriptor);
    runloop_timer_release(timer);
    runloop_observer_release(observer);
    runloop_source_release(invalid_source);
    runloop_timer_release(invalid_timer);
    runloop_observer_release(invalid_observer);
}

static void expect_loop_works(void) {
    EXPECT_TRACE("");
    runloop_source *works = add_source("works", trace_perform, "source");
    runloop_perform(runloop_current(), "works", trace_function, "function", NULL);
    add_timer("works", 0, 0, trace_fire, "timer");
    runloop_source_signal(works);
    EXPECT_EQ(handle_one("works"), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("function source timer");
    runloop_source_invalidate(works);
    EXPECT_EQ(run_for("works", 20 * SECOND), RUNLOOP_RESULT_FINISHED);
}

/// A row of the tables: the result of a call, and that it created no mode.
#define ROW(expected, call)                                                                                            \
    do {                                                                                                               \
        size_t modes_before = runloop_get_modes(runloop_current(), NULL, 0);                                           \
        EXPECT_EQ(call, expected);                                                                                     \
        EXPECT_EQ(runloop_get_modes(runloop_current(), NULL, 0), modes_before);                                        \
    } while (0)

TEST("R115 calls about a loop refuse NULL") {
    make_items();
    ROW(0, runloop_retain(NULL) != NULL);
    runloop_release(NULL);
    ROW(false, runloop_is_current(NULL));
    ROW(false, runloop_is_waiting(NULL));
    ROW(false, runloop_is_idle(NULL));
    ROW(0, runloop_current_mode(NULL) != NULL);
    ROW(0, runloop_get_modes(NULL, NULL, 0));
    ROW(-EINVAL, runloop_add_common_mode(NULL, MODE));
    ROW(-EINVAL, runloop_add_common_mode(loop, NULL));
    ROW(false, runloop_mode_is_common(NULL, RUNLOOP_DEFAULT_MODE));
    ROW(false, runloop_mode_is_common(loop, NULL));
    ROW(true, runloop_mode_is_empty(NULL, RUNLOOP_DEFAULT_MODE));
    ROW(true, runloop_mode_is_empty(loop, NULL));
    ROW(true, runloop_mode_is_empty(loop, RUNLOOP_COMMON_MODES));
    ROW(true, runloop_mode_is_empty(loop, "unknown"));
    ROW(RUNLOOP_NEVER, runloop_next_fire_date(NULL, RUNLOOP_DEFAULT_MODE));
    ROW(RUNLOOP_NEVER, runloop_next_fire_date(loop, NULL));
    ROW(0, runloop_mode_name(NULL) != NULL);
    ROW(0, runloop_copy_description(NULL) != NULL);
    ROW(RUNLOOP_RESULT_FINISHED, runloop_run_in_mode(NULL, 0, false));
    ROW(RUNLOOP_RESULT_FINISHED, runloop_run_in_mode(NULL, RUNLOOP_FOREVER, true));
    ROW(-EINVAL, runloop_stop(NULL));
    ROW(-EINVAL, runloop_stop_latched(NULL));
    ROW(-EINVAL, runloop_stop_mode(NULL, MODE));
    ROW(-EINVAL, runloop_stop_mode(loop, NULL));
    ROW(-EINVAL, runloop_wake_up(NULL));
    expect_loop_works();
    release_items();
}

TEST("R115 performing and posting refuse NULL, and then retain neither function nor info") {
    make_items();
    const char *modes[] = {MODE, NULL};
    runloop_function function = trace_function;
    ROW(-EINVAL, runloop_perform(NULL, MODE, function, "info", function));
    ROW(-EINVAL, runloop_perform(loop, NULL, function, "info", function));
    ROW(-EINVAL, runloop_perform(loop, MODE, NULL, "info", function));
    ROW(-EINVAL, runloop_post(NULL, MODE, function, "info", function));
    ROW(-EINVAL, runloop_post(loop, NULL, function, "info", function));
    ROW(-EINVAL, runloop_post(loop, MODE, NULL, "info", function));
    ROW(-EINVAL, runloop_perform_in_modes(NULL, modes, 1, function, "info", function));
    ROW(-EINVAL, runloop_perform_in_modes(loop, NULL, 1, function, "info", function));
    ROW(-EINVAL, runloop_perform_in_modes(loop, modes, 2, function, "info", function));
    ROW(-EINVAL, runloop_perform_in_modes(loop, modes, 1, NULL, "info", function));
    ROW(-EINVAL, runloop_post_in_modes(NULL, modes, 1, function, "info", function));
    ROW(-EINVAL, runloop_post_in_modes(loop, NULL, 1, function, "info", function));
    ROW(-EINVAL, runloop_post_in_modes(loop, modes, 2, function, "info", function));
    ROW(-EINVAL, runloop_post_in_modes(loop, modes, 1, NULL, "info", function));
    ROW(0, runloop_perform_in_modes(loop, NULL, 0, function, "info", NULL)); // No modes: never performed.
    ROW(0, runloop_post_in_modes(loop, modes, 0, function, "info", NULL));
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
    expect_loop_works();
    release_items();
}

TEST("R115 creations refuse NULL") {
    make_items();
    runloop_source_config source_config = {.order = 0};
    runloop_descriptor_config descriptor_config = {.descriptor = -1, .events = RUNLOOP_READABLE};
    runloop_timer_config timer_config = {.order = 0};
    runloop_observer_config observer_config = {.order = 0};
    ROW(-EINVAL, runloop_source_create(NULL, &source));
    ROW(-EINVAL, runloop_source_create(&source_config, NULL));
    ROW(-EINVAL, runloop_descriptor_source_create(NULL, &source));
    ROW(-EINVAL, runloop_descriptor_source_create(&descriptor_config, NULL));
    ROW(-EINVAL, runloop_timer_create(NULL, &timer));
    ROW(-EINVAL, runloop_timer_create(&timer_config, NULL));
    ROW(-EINVAL, runloop_observer_create(NULL, &observer));
    ROW(-EINVAL, runloop_observer_create(&observer_config, NULL));
    expect_loop_works();
}

TEST("R115 calls about sources refuse NULL") {
    make_items();
    ROW(0, runloop_source_retain(NULL) != NULL);
    runloop_source_release(NULL);
    runloop_source_invalidate(NULL);
    ROW(-EINVAL, runloop_source_signal(NULL));
    ROW(false, runloop_source_is_signalled(NULL));
    ROW(false, runloop_source_is_valid(NULL));
    ROW(0, runloop_source_get_info(NULL) != NULL);
    ROW(0, runloop_source_get_events(NULL));
    EXPECT(runloop_source_get_descriptor(NULL) < 0);
    (void)runloop_source_get_order(NULL);
    ROW(-EINVAL, runloop_add_source(NULL, source, MODE));
    ROW(-EINVAL, runloop_add_source(loop, NULL, MODE));
    ROW(-EINVAL, runloop_add_source(loop, source, NULL));
    ROW(-EINVAL, runloop_add_source(loop, descriptor, NULL));
    ROW(-EINVAL, runloop_remove_source(NULL, source, MODE));
    ROW(-EINVAL, runloop_remove_source(loop, NULL, MODE));
    ROW(-EINVAL, runloop_remove_source(loop, source, NULL));
    ROW(false, runloop_contains_source(NULL, source, MODE));
    ROW(false, runloop_contains_source(loop, NULL, MODE));
    ROW(false, runloop_contains_source(loop, source, NULL));
    expect_loop_works();
    release_items();
}

TEST("R115 calls about timers refuse NULL") {
    make_items();
    ROW(0, runloop_timer_retain(NULL) != NULL);
    runloop_timer_release(NULL);
    runloop_timer_invalidate(NULL);
    ROW(RUNLOOP_NEVER, runloop_timer_get_fire_date(NULL));
    ROW(-EINVAL, runloop_timer_set_fire_date(NULL, 0));
    ROW(-EINVAL, runloop_timer_set_tolerance(NULL, 0));
    ROW(0, runloop_timer_get_missed(NULL));
    ROW(0, runloop_timer_get_info(NULL) != NULL);
    ROW(false, runloop_timer_is_valid(NULL));
    (void)runloop_timer_get_interval(NULL);
    (void)runloop_timer_get_order(NULL);
    (void)runloop_timer_get_tolerance(NULL);
    ROW(-EINVAL, runloop_add_timer(NULL, timer, MODE));
    ROW(-EINVAL, runloop_add_timer(loop, NULL, MODE));
    ROW(-EINVAL, runloop_add_timer(loop, timer, NULL));
    ROW(-EINVAL, runloop_remove_timer(NULL, timer, MODE));
    ROW(-EINVAL, runloop_remove_timer(loop, NULL, MODE));
    ROW(-EINVAL, runloop_remove_timer(loop, timer, NULL));
    ROW(false, runloop_contains_timer(NULL, timer, MODE));
    ROW(false, runloop_contains_timer(loop, NULL, MODE));
    ROW(false, runloop_contains_timer(loop, timer, NULL));
    expect_loop_works();
    release_items();
}

TEST("R115 calls about observers refuse NULL") {
    make_items();
    ROW(0, runloop_observer_retain(NULL) != NULL);
    runloop_observer_release(NULL);
    runloop_observer_invalidate(NULL);
    ROW(0, runloop_observer_get_activities(NULL));
    ROW(false, runloop_observer_repeats(NULL));
    ROW(0, runloop_observer_get_info(NULL) != NULL);
    ROW(false, runloop_observer_is_valid(NULL));
    (void)runloop_observer_get_order(NULL);
    ROW(-EINVAL, runloop_add_observer(NULL, observer, MODE));
    ROW(-EINVAL, runloop_add_observer(loop, NULL, MODE));
    ROW(-EINVAL, runloop_add_observer(loop, observer, NULL));
    ROW(-EINVAL, runloop_remove_observer(NULL, observer, MODE));
    ROW(-EINVAL, runloop_remove_observer(loop, NULL, MODE));
    ROW(-EINVAL, runloop_remove_observer(loop, observer, NULL));
    ROW(false, runloop_contains_observer(NULL, observer, MODE));
    ROW(false, runloop_contains_observer(loop, NULL, MODE));
    ROW(false, runloop_contains_observer(loop, observer, NULL));
    expect_loop_works();
    release_items();
}

TEST("R111 R112 R113 invalidated items are refused and otherwise harmless") {
    make_items();
    const char *modes[] = {MODE, RUNLOOP_DEFAULT_MODE, RUNLOOP_COMMON_MODES};
    for (int i = 0; i < 3; i++) {
        ROW(-EINVAL, runloop_add_source(loop, invalid_source, modes[i]));
        ROW(-EINVAL, runloop_add_timer(loop, invalid_timer, modes[i]));
        ROW(-EINVAL, runloop_add_observer(loop, invalid_observer, modes[i]));
        ROW(0, runloop_remove_source(loop, invalid_source, modes[i]));
        ROW(0, runloop_remove_timer(loop, invalid_timer, modes[i]));
        ROW(0, runloop_remove_observer(loop, invalid_observer, modes[i]));
        ROW(false, runloop_contains_source(loop, invalid_source, modes[i]));
        ROW(false, runloop_contains_timer(loop, invalid_timer, modes[i]));
        ROW(false, runloop_contains_observer(loop, invalid_observer, modes[i]));
    }
    ROW(0, runloop_source_signal(invalid_source));
    ROW(false, runloop_source_is_signalled(invalid_source));
    ROW(false, runloop_source_is_valid(invalid_source));
    ROW(RUNLOOP_NEVER, runloop_timer_get_fire_date(invalid_timer));
    ROW(-EINVAL, runloop_timer_set_fire_date(invalid_timer, 0));
    ROW(-EINVAL, runloop_timer_set_tolerance(invalid_timer, 0));
    runloop_source_invalidate(invalid_source);
    runloop_timer_invalidate(invalid_timer);
    runloop_observer_invalidate(invalid_observer);
    expect_loop_works();
    release_items();
}

TEST("R22 R53 the pseudo-mode is refused where a mode is needed") {
    make_items();
    ROW(RUNLOOP_RESULT_FINISHED, runloop_run_in_mode(RUNLOOP_COMMON_MODES, RUNLOOP_FOREVER, false));
    ROW(RUNLOOP_RESULT_FINISHED, runloop_run_in_mode("unknown", RUNLOOP_FOREVER, false));
    ROW(-EINVAL, runloop_stop_mode(loop, RUNLOOP_COMMON_MODES));
    ROW(0, runloop_add_common_mode(loop, RUNLOOP_COMMON_MODES)); // Ignored.
    ROW(RUNLOOP_NEVER, runloop_next_fire_date(loop, RUNLOOP_COMMON_MODES));
    ROW(RUNLOOP_NEVER, runloop_next_fire_date(loop, "unknown"));
    ROW(false, runloop_mode_is_common(loop, "unknown"));
    ROW(0, runloop_remove_source(loop, source, "unknown"));
    ROW(0, runloop_remove_timer(loop, timer, "unknown"));
    ROW(0, runloop_remove_observer(loop, observer, "unknown"));
    ROW(false, runloop_contains_source(loop, source, "unknown"));
    ROW(0, runloop_remove_source(loop, source, RUNLOOP_COMMON_MODES));
    ROW(0, runloop_remove_timer(loop, timer, RUNLOOP_COMMON_MODES));
    ROW(0, runloop_remove_observer(loop, observer, RUNLOOP_COMMON_MODES));
    expect_loop_works();
    release_items();
}

static void *add_to_second_loop(void *unused) {
    (void)unused;
    runloop *second = runloop_current();
    const char *modes[] = {MODE, RUNLOOP_COMMON_MODES};
    for (int i = 0; i < 2; i++) {
        ROW(-EBUSY, runloop_add_timer(second, timer, modes[i]));
        ROW(-EBUSY, runloop_add_observer(second, observer, modes[i]));
        ROW(false, runloop_contains_timer(second, timer, modes[i]));
        ROW(false, runloop_contains_observer(second, observer, modes[i]));
        ROW(0, runloop_remove_timer(second, timer, modes[i]));
        ROW(0, runloop_remove_observer(second, observer, modes[i]));
    }
    expect_loop_works();
    return NULL;
}

TEST("R86 R97 a timer or observer of another loop is refused with -EBUSY and stays there") {
    make_items();
    runloop_add_timer(loop, timer, OTHER_MODE);
    runloop_add_observer(loop, observer, OTHER_MODE);
    on_new_thread(add_to_second_loop, NULL);
    EXPECT(runloop_contains_timer(loop, timer, OTHER_MODE));
    EXPECT(runloop_contains_observer(loop, observer, OTHER_MODE));
    expect_loop_works();
    release_items();
}

static int try_descriptor(int number, runloop_readiness events) {
    runloop_descriptor_config config = {.descriptor = number, .events = events};
    runloop_source *made = NULL;
    int result = runloop_descriptor_source_create(&config, &made);
    if (result == 0)
        runloop_source_release(made);
    return result;
}

static int add_number(int number, const char *mode) {
    runloop_source *made = make_descriptor(number, RUNLOOP_READABLE, NULL, NULL);
    int result = runloop_add_source(loop, made, mode);
    EXPECT(result == 0 || !runloop_contains_source(loop, made, mode));
    runloop_source_invalidate(made);
    runloop_source_release(made);
    return result;
}

TEST("R68 R73 a descriptor's number and events are checked at creation, its file at addition") {
    make_items();
    ROW(-EINVAL, try_descriptor(0, 0));
    ROW(-EINVAL, try_descriptor(0, 0x20));
    ROW(-EINVAL, try_descriptor(0, RUNLOOP_READABLE | 0x80000000U));
    ROW(-EINVAL, try_descriptor(-2, RUNLOOP_READABLE));
    ROW(-EINVAL, try_descriptor(INT32_MIN, RUNLOOP_READABLE));
    ROW(0, try_descriptor(-1, RUNLOOP_READABLE));
    ROW(0, try_descriptor(0, RUNLOOP_HANG_UP));
    ROW(0, try_descriptor(0, RUNLOOP_ERROR));
    int file = open("/tmp", O_TMPFILE | O_RDWR, 0600), directory = open("/", O_RDONLY | O_DIRECTORY), closed = dup(0);
    close(closed);
    REQUIRE(file >= 0);
    const char *modes[] = {MODE, RUNLOOP_DEFAULT_MODE, RUNLOOP_COMMON_MODES};
    for (int i = 0; i < 3; i++) {
        ROW(-EPERM, add_number(file, modes[i]));
        ROW(-EPERM, add_number(directory, modes[i]));
        ROW(-EBADF, add_number(closed, modes[i]));
        ROW(-EBADF, add_number(1 << 24, modes[i]));
    }
    expect_loop_works();
    release_items();
}

TEST("R31 R33 R80 times from the smallest to the largest integer are accepted as given") {
    make_items();
    keep_mode(MODE);
    ROW(RUNLOOP_RESULT_TIMED_OUT, runloop_run_in_mode(MODE, INT64_MIN, false));
    ROW(RUNLOOP_RESULT_TIMED_OUT, runloop_run_in_mode(MODE, -1, false));
    int64_t limits[] = {INT64_MAX, INT64_MAX - 1, INT64_MAX / 2};
    for (int i = 0; i < 3; i++) {
        runloop_stop_latched(loop);
        ROW(RUNLOOP_RESULT_STOPPED, runloop_run_in_mode(MODE, limits[i], false));
    }
    int64_t extremes[] = {INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX};
    for (int i = 0; i < 6 * 6 * 6; i++) {
        runloop_timer_config config = {
            .fire_ns = extremes[i % 6], .interval_ns = extremes[i / 6 % 6], .tolerance_ns = extremes[i / 36]};
        runloop_timer *made = NULL;
        REQUIRE(runloop_timer_create(&config, &made) == 0);
        EXPECT_EQ(runloop_add_timer(loop, made, MODE), 0);
        ROW(RUNLOOP_RESULT_TIMED_OUT, poll_mode(MODE));
        ROW(RUNLOOP_RESULT_TIMED_OUT, run_for(MODE, 1));
        if (runloop_timer_is_valid(made))
            for (int j = 0; j < 6; j++) {
                EXPECT_EQ(runloop_timer_set_fire_date(made, extremes[j]), 0);
                EXPECT_EQ(runloop_timer_set_tolerance(made, extremes[(i + j) % 6]), 0);
                poll_mode(MODE);
                if (!runloop_timer_is_valid(made))
                    break;
            }
        runloop_timer_invalidate(made);
        runloop_timer_release(made);
    }
    expect_loop_works();
    release_items();
}
