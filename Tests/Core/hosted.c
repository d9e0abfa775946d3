// hosted.c — what the functions of a hosted run answer: bad input, budgets, nested runs, and what is not there (R28, R36, R38). What they are
// for is in host_scenes.h.
#include <poll.h>

#include "items.h"

static runloop *loop;
static int performed;

static void set_up(void) {
    loop = runloop_current();
    keep_mode(MODE);
}

static bool is_readable(void) {
    struct pollfd waited = {.fd = runloop_hosted_descriptor(), .events = POLLIN};
    return poll(&waited, 1, 0) == 1;
}

//===-- bad input ----------------------------------------------------------------------------------------------------===//

TEST("R36 without a hosted run there is nothing to iterate or to end, whether or not the thread has a loop") {
    EXPECT_EQ(runloop_hosted_iterate(0), -EINVAL);
    EXPECT_EQ(runloop_hosted_end(), -EINVAL);
    EXPECT_EQ(runloop_hosted_begin(NULL), -EINVAL);
    set_up();
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), -EINVAL);
    EXPECT_EQ(runloop_hosted_end(), -EINVAL);
}

TEST(
    "R22 R23 R28 a hosted run of an empty, an unknown or the pseudo-mode is finished at once, and nobody is notified") {
    set_up();
    trace_activities("empty");
    EXPECT_EQ(runloop_hosted_begin("empty"), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(runloop_hosted_begin("unknown"), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(runloop_hosted_begin(RUNLOOP_COMMON_MODES), RUNLOOP_RESULT_FINISHED);
    EXPECT_TRACE("");
    EXPECT_EQ(runloop_hosted_end(), -EINVAL);
}

TEST("R110 without libdispatch there is no main queue to serve") {
    EXPECT_EQ(runloop_main_queue_descriptor(), -ENOSYS);
    EXPECT_EQ(runloop_main_queue_serve(), -ENOSYS);
}

TEST("R47 a remembered stop ends a hosted run as it begins") {
    set_up();
    trace_activities(MODE);
    runloop_stop_latched(loop);
    EXPECT_EQ(runloop_hosted_begin(MODE), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("Entry Exit");
    EXPECT_EQ(runloop_hosted_end(), -EINVAL);
}

TEST("R121 where descriptors have run out, a hosted run is refused, and nothing is lost") {
    set_up();
    int before = count_descriptors();
    for (int spare = 0; spare < 2; spare++) {
        spare_descriptors(spare);
        EXPECT_EQ(runloop_hosted_begin(MODE), -EMFILE);
        restore_descriptors();
    }
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    EXPECT_EQ(count_descriptors(), before + 2); // what the host waits for, and the timer's
    EXPECT_EQ(runloop_hosted_end(), 0);
}

static void *end_thread(void *unused) {
    set_up();
    EXPECT(runloop_hosted_descriptor() >= 0);
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    return unused;
}

TEST("R8 the descriptor goes with the thread") {
    int before = count_descriptors();
    on_new_thread(end_thread, NULL);
    EXPECT_EQ(count_descriptors(), before);
}

static void *expect_wake_up_is_needed(void *loop) {
    EXPECT(runloop_needs_wake_up(loop));
    return NULL;
}

TEST("the descriptor stays the same, and is readable if and only if there is something to do") {
    set_up();
    int descriptor = runloop_hosted_descriptor();
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(runloop_hosted_begin(MODE), 0);
        EXPECT_EQ(runloop_hosted_descriptor(), descriptor);
        EXPECT(is_readable());
        EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
        EXPECT(!is_readable());
        EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0); // for nothing
        EXPECT(!is_readable());
        EXPECT_EQ(runloop_hosted_end(), 0);
    }
}

TEST("R73 the descriptor is readable neither before a run nor after it, whatever is ready in the loop") {
    set_up();
    int counter = make_eventfd(1);
    runloop_source *source = add_descriptor(MODE, counter, RUNLOOP_READABLE, trace_ready, "ready");
    runloop_hosted_descriptor();
    EXPECT(!is_readable());
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(runloop_hosted_begin(MODE), 0);
        EXPECT(is_readable());
        EXPECT_EQ(runloop_hosted_iterate(0), -EAGAIN);
        if (i == 1) {
            runloop_stop(runloop_current());
            EXPECT_EQ(runloop_hosted_iterate(0), RUNLOOP_RESULT_STOPPED);
        } else {
            EXPECT_EQ(runloop_hosted_end(), 0);
        }
        EXPECT(!is_readable());
        runloop_wake_up(runloop_current());
        EXPECT(!is_readable());
    }
    runloop_source_invalidate(source);
    close(counter);
}

TEST("R104 the loop's own thread must wake it only while it sleeps for a host") {
    set_up();
    runloop *loop = runloop_current();
    EXPECT(!runloop_needs_wake_up(loop));
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    EXPECT(!runloop_needs_wake_up(loop));
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
    EXPECT(runloop_needs_wake_up(loop));
    on_new_thread(expect_wake_up_is_needed, loop);
    EXPECT_EQ(runloop_hosted_end(), 0);
    EXPECT(!runloop_needs_wake_up(loop));
    on_new_thread(expect_wake_up_is_needed, loop);
    EXPECT(!runloop_needs_wake_up(NULL));
}

static void count_and_rest(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)reasons, (void)info;
    EXPECT_EQ(runloop_source_set_events(source, 0), 0);
    performed++;
}

TEST("R104 R149 R152 a source is called that the host's own code wakes, or gives a date or events that are there") {
    set_up();
    int counter = make_eventfd(0);
    runloop_source *source = add_descriptor(MODE, counter, RUNLOOP_WRITABLE, count_and_rest, NULL);
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    for (int way = 0; way <= 3; way++) {
        struct pollfd host = {.fd = runloop_hosted_descriptor(), .events = POLLIN};
        switch (way) {
        case 1: EXPECT_EQ(runloop_source_wake(source), 0); break;
        case 2: EXPECT_EQ(runloop_source_set_deadline(source, runloop_now_ns()), 0); break;
        case 3: EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_WRITABLE), 0); break;
        }
        while (performed == way) {
            REQUIRE(poll(&host, 1, 30000) == 1);
            EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
        }
        EXPECT(!is_readable());
    }
    EXPECT_EQ(runloop_hosted_end(), 0);
    runloop_source_invalidate(source);
    close(counter);
}

//===-- in callbacks -------------------------------------------------------------------------------------------------===//

static void try_to_end(void *unused) {
    (void)unused;
    EXPECT_EQ(runloop_hosted_end(), -EBUSY);
    performed++;
}

static void try_to_end_in_observer(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity;
    try_to_end(info);
}

TEST("a hosted run can't be ended in its own callbacks, and those of a run that is nested in it") {
    set_up();
    add_observer(MODE, RUNLOOP_ACTIVITY_ENTRY | RUNLOOP_ACTIVITY_EXIT, try_to_end_in_observer, NULL);
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    runloop_post(loop, MODE, try_to_end, NULL, NULL);
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
    runloop_post(loop, MODE, try_to_end, NULL, NULL);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(runloop_hosted_end(), 0);
    EXPECT_EQ(performed, 6);
}

static void begin_dialog(void *leaves_it_behind) {
    EXPECT_EQ(runloop_hosted_begin(OTHER_MODE), 0);
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
    EXPECT_TEXT(runloop_current_mode(loop), OTHER_MODE);
    if (!leaves_it_behind)
        EXPECT_EQ(runloop_hosted_end(), 0);
    trace("|");
}

TEST("R38 a hosted run that is begun in a callback is nested, and ends with the callback at the latest") {
    set_up();
    keep_mode(OTHER_MODE);
    trace_activities(OTHER_MODE);
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    runloop_post(loop, MODE, begin_dialog, NULL, NULL);
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
    EXPECT_TRACE("Entry T S W A Exit |");
    runloop_post(loop, MODE, begin_dialog, loop, NULL);
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
    EXPECT_TRACE("Entry T S W | A Exit");
    EXPECT_TEXT(runloop_current_mode(loop), MODE);
    EXPECT_EQ(runloop_hosted_end(), 0);
    // In a plain run as well.
    runloop_post(loop, MODE, begin_dialog, loop, NULL);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S W | A Exit");
    EXPECT(!runloop_current_mode(loop));
}

//===-- budgets ------------------------------------------------------------------------------------------------------===//

static void take_a_moment(void *unused) {
    (void)unused;
    performed++;
    pass_time(MS);
}

TEST("a budget ends an iteration's drain of tasks, too, and the descriptor says that there is more") {
    enum { TASKS = 20 };
    set_up();
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    for (int i = 0; i < TASKS; i++)
        runloop_post(loop, MODE, take_a_moment, NULL, NULL);
    int calls = 0;
    for (int before = 0; performed < TASKS; before = performed, calls++) {
        EXPECT_EQ(runloop_hosted_iterate(MS / 2), -EAGAIN);
        // An iteration drains in up to three places, and performs one task at least.
        EXPECT(performed > before && performed <= before + 3);
        EXPECT(is_readable());
    }
    EXPECT(calls >= TASKS / 3);
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
    EXPECT(!is_readable());
    EXPECT_EQ(runloop_hosted_end(), 0);
}

static void post_again(void *unused) {
    performed++;
    runloop_post(loop, MODE, post_again, unused, NULL);
}

TEST("without a budget one iteration is made at a time, however much there is to do") {
    set_up();
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    runloop_post(loop, MODE, post_again, NULL, NULL);
    for (int i = 1; i <= 5; i++) {
        EXPECT_EQ(runloop_hosted_iterate(i % 2 ? 0 : -1), -EAGAIN);
        EXPECT(performed >= i && performed <= 3 * i);
        EXPECT(is_readable());
    }
    EXPECT_EQ(runloop_hosted_end(), 0);
}
