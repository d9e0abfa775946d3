// clock_watches.c — steps of the wall clock and suspensions as a source, on clocks of the test's own. What is done in a call-out: callouts.c.
#include "clocks.h"

/// Between two readings of the test's clocks, also on a busy machine; a hundredth of what the tests step.
#define CLOSE_NS (10 * MS)

/// The reported steps, added up.
struct told {
    _Atomic uint64_t count;
    int64_t step_ns, suspended_ns;
    void (*then)(struct told *told);
};

static void note_change(runloop_clock_watch *watch, const runloop_clock_change *change, void *info) {
    (void)watch;
    struct told *told = info;
    EXPECT(change->step_ns || change->suspended_ns);
    EXPECT(change->suspended_ns >= 0);
    // All steps in this file are longer than a second; a part of one would be a mistake in the reading.
    EXPECT(change->step_ns == 0 || llabs(change->step_ns) > SECOND / 2);
    told->step_ns += change->step_ns;
    told->suspended_ns += change->suspended_ns;
    told->count++;
    if (told->then)
        told->then(told);
}

static runloop_clock_watch *make_watch(struct told *told) {
    runloop_clock_watch_config config = {.context.info = told, .changed = note_change};
    runloop_clock_watch *watch = NULL;
    REQUIRE(runloop_clock_watch_create(&config, &watch) == 0 && watch);
    return watch;
}

/// In MODE of the calling thread's loop. One reference.
static runloop_clock_watch *add_watch(struct told *told) {
    runloop_clock_watch *watch = make_watch(told);
    REQUIRE(runloop_add_source(runloop_current(), watch, MODE) == 0);
    return watch;
}

static bool is_close(int64_t a, int64_t b) {
    return a - b < CLOSE_NS && b - a < CLOSE_NS;
}

#define EXPECT_TOLD(told, calls, step, suspended)                                                                      \
    do {                                                                                                               \
        EXPECT_EQ((told).count, calls);                                                                                \
        EXPECT(is_close((told).step_ns, step));                                                                        \
        EXPECT(is_close((told).suspended_ns, suspended));                                                              \
    } while (0)

TEST("steps of the wall clock are reported, each with its direction, and no suspension with them") {
    struct told told = {0};
    runloop_clock_watch *watch = add_watch(&told);
    step(HOUR);
    handle_one(MODE);
    EXPECT_TOLD(told, 1, HOUR, 0);
    EXPECT_EQ(told.suspended_ns, 0);
    step(-3 * HOUR);
    handle_one(MODE);
    EXPECT_TOLD(told, 2, -2 * HOUR, 0);
    step(SECOND);
    handle_one(MODE);
    EXPECT_TOLD(told, 3, SECOND - 2 * HOUR, 0);
    EXPECT_EQ(told.suspended_ns, 0);
    end_source(watch);
}

TEST("a suspension is reported with its length, and no step with it") {
    struct told told = {0};
    runloop_clock_watch *watch = add_watch(&told);
    for (int i = 1; i <= 2; i++) {
        jump(0, 8 * HOUR);
        handle_one(MODE);
        EXPECT_TOLD(told, i, 0, i * 8 * HOUR);
        EXPECT_EQ(told.step_ns, 0);
    }
    end_source(watch);
}

TEST("a step and a suspension at once are one call") {
    struct told told = {0};
    runloop_clock_watch *watch = add_watch(&told);
    jump(-HOUR, 2 * HOUR);
    handle_one(MODE);
    EXPECT_TOLD(told, 1, -HOUR, 2 * HOUR);
    end_source(watch);
}

TEST("what was not reported adds up, and forth and back is nothing") {
    struct told told = {0};
    runloop_clock_watch *watch = add_watch(&told);
    keep_mode(OTHER_MODE);
    step(HOUR);
    jump(0, HOUR);
    step(2 * HOUR);
    jump(0, HOUR);
    run_for(OTHER_MODE, 10 * MS);
    EXPECT_EQ(told.count, 0);
    handle_one(MODE);
    EXPECT_TOLD(told, 1, 3 * HOUR, 2 * HOUR);
    step(HOUR);
    step(-HOUR);
    run_for(MODE, 20 * MS);
    EXPECT_EQ(told.count, 1);
    end_source(watch);
}

TEST("what was before the watch is not reported, and what is between the creation and a loop is") {
    struct told told = {0};
    step(HOUR);
    runloop_clock_watch *watch = make_watch(&told);
    step(2 * HOUR);
    REQUIRE(runloop_add_source(runloop_current(), watch, MODE) == 0);
    handle_one(MODE);
    EXPECT_TOLD(told, 1, 2 * HOUR, 0);
    end_source(watch);
}

static void jump_before_reading(int reading, int64_t step_ns, int64_t suspended_ns) {
    struct told told = {0};
    runloop_clock_watch *watch = add_watch(&told);
    clocks.readings_before_jump = reading;
    clocks.jump_step_ns = step_ns;
    clocks.jump_suspended_ns = suspended_ns;
    // So that there is a reading.
    step(HOUR);
    RUN_UNTIL(MODE, is_close(told.step_ns, HOUR + step_ns) && is_close(told.suspended_ns, suspended_ns));
    run_for(MODE, 20 * MS);
    EXPECT(told.count <= 2);
    EXPECT(is_close(told.step_ns, HOUR + step_ns));
    EXPECT(is_close(told.suspended_ns, suspended_ns));
    end_source(watch);
}

TEST("a step or a suspension while the clocks are read is reported once, whichever reading it is before") {
    for (int reading = 1; reading <= 3; reading++) {
        jump_before_reading(reading, 2 * HOUR, 0);
        jump_before_reading(reading, -3 * HOUR, 0);
        jump_before_reading(reading, 0, HOUR);
    }
}

static void step_back(struct told *told) {
    told->then = NULL;
    step(-HOUR);
}

TEST("a step in a call is reported by the next") {
    struct told told = {.then = step_back};
    runloop_clock_watch *watch = add_watch(&told);
    step(2 * HOUR);
    handle_one(MODE);
    EXPECT_TOLD(told, 1, 2 * HOUR, 0);
    handle_one(MODE);
    EXPECT_TOLD(told, 2, HOUR, 0);
    end_source(watch);
}

static struct told of_worker;
static runloop_clock_watch *of_worker_watch;

static void add_to_worker(void) {
    of_worker_watch = add_watch(&of_worker);
}

TEST("a step ends the sleep of a loop; in a storm the sum is right") {
    struct worker worker = {.prepare = add_to_worker};
    start_worker(&worker);
    wait_for_sleep(&worker);
    step(HOUR);
    WAIT_UNTIL(of_worker.count == 1);
    for (int i = 0; i < 2000; i++)
        jump(i % 3 ? HOUR : -HOUR, i % 2 ? SECOND : 0);
    int64_t steps = HOUR + 1333 * HOUR - 667 * HOUR;
    runloop_clock_watch *last = make_watch(&(struct told){0});
    wait_for_sleep(&worker);
    stop_worker(&worker);
    EXPECT(is_close(of_worker.step_ns, steps));
    EXPECT(is_close(of_worker.suspended_ns, 1000 * SECOND));
    EXPECT(of_worker.count > 1);
    end_source(of_worker_watch);
    end_source(last);
}

static struct told of_parent;
static runloop_clock_watch *of_parent_watch;

static void use_inherited_watch(void) {
    REQUIRE(runloop_add_source(runloop_current(), of_parent_watch, MODE) == 0);
    struct told told = {0};
    runloop_clock_watch *ours = add_watch(&told);
    step(HOUR);
    RUN_UNTIL(MODE, told.count == 1);
    run_for(MODE, 20 * MS);
    EXPECT_EQ(of_parent.count, 0);
    end_source(ours);
    end_source(of_parent_watch);
}

TEST("a forked child never calls an inherited watch") {
    of_parent_watch = add_watch(&of_parent);
    EXPECT_EQ(status_of_child(use_inherited_watch), 0);
    step(HOUR);
    handle_one(MODE);
    EXPECT_TOLD(of_parent, 1, HOUR, 0);
    end_source(of_parent_watch);
}

static int create_watch(void) {
    runloop_clock_watch_config config = {0};
    runloop_clock_watch *watch = NULL;
    int result = runloop_clock_watch_create(&config, &watch);
    runloop_source_release(watch);
    return result;
}

TEST("without descriptors, memory or the kernel's reports there is an error, and nothing is left") {
    expect_failures_without_traces(create_watch);
    int before = count_descriptors();
    clocks.refuses_jumps = true;
    EXPECT_EQ(create_watch(), -ENOSYS);
    EXPECT_EQ(count_descriptors(), before);
}

TEST("arguments that make no sense are refused") {
    runloop_clock_watch_config config = {0};
    runloop_clock_watch *watch = NULL;
    EXPECT_EQ(runloop_clock_watch_create(NULL, &watch), -EINVAL);
    EXPECT_EQ(runloop_clock_watch_create(&config, NULL), -EINVAL);
}

TEST("a watch without a callback, and one that had nothing to report, end well") {
    runloop_clock_watch_config config = {0};
    runloop_clock_watch *watch = NULL;
    REQUIRE(runloop_clock_watch_create(&config, &watch) == 0);
    REQUIRE(runloop_add_source(runloop_current(), watch, MODE) == 0);
    step(HOUR);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    end_source(watch);
}
