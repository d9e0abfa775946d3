// inspect.c — what others may see of a loop: names of items, a visit of all items, the tracer.
#include <sys/wait.h>

#include "items.h"

static const char *const points[] = {"run", "end",   "turn", "sleep", "wake", "tasks", "ret",
                                     "obs", "timer", "sig",  "desc",  "task", "main"};

static int64_t last_value;
static const void *last_object;

static void follow(void *context, runloop_trace_point point, const void *object, int64_t value) {
    (void)context;
    last_object = object;
    last_value = value;
    trace(points[point]);
}

static const runloop_tracer follower = {.trace = follow};

static void do_nothing(void *info) {
    (void)info;
}

//===-- names --------------------------------------------------------------------------------------------------------===//

TEST("an item has the name and the line that were set last, and none at first") {
    runloop_source *source = make_source(trace_perform, "s");
    runloop_timer *timer = make_timer(RUNLOOP_NEVER, 0, trace_fire, "t");
    runloop_observer *observer = make_observer(RUNLOOP_ACTIVITY_ALL, trace_activity, NULL);
    uint32_t line = 7;
    EXPECT(!runloop_source_get_name(source, &line) && line == 0);
    EXPECT(!runloop_timer_get_name(timer, NULL) && !runloop_observer_get_name(observer, NULL));
    runloop_source_set_name(source, "main.c", 12);
    runloop_timer_set_name(timer, "heartbeat", 0);
    runloop_observer_set_name(observer, "painter", 3);
    EXPECT_TEXT(runloop_source_get_name(source, &line), "main.c");
    EXPECT_EQ(line, 12);
    EXPECT_TEXT(runloop_timer_get_name(timer, &line), "heartbeat");
    EXPECT_EQ(line, 0);
    EXPECT_TEXT(runloop_observer_get_name(observer, &line), "painter");
    EXPECT_EQ(line, 3);
    runloop_observer_set_name(observer, NULL, 3);
    EXPECT(!runloop_observer_get_name(observer, &line) && line == 0);
    runloop_source_release(source);
    runloop_timer_release(timer);
    runloop_observer_release(observer);
}

TEST("names appear in the description of the loop") {
    runloop_timer_set_name(add_timer(MODE, RUNLOOP_NEVER, 0, trace_fire, "t"), "clock.c", 99);
    runloop_source_set_name(keep_mode(MODE), "keeper", 0);
    char *text = runloop_copy_description(runloop_current());
    REQUIRE(text);
    EXPECT(strstr(text, "clock.c:99") && strstr(text, "“keeper”"));
    free(text);
}

TEST("NULL has no name, and takes none") {
    runloop_source_set_name(NULL, "x", 0);
    runloop_timer_set_name(NULL, "x", 0);
    runloop_observer_set_name(NULL, "x", 0);
    EXPECT(!runloop_source_get_name(NULL, NULL) && !runloop_timer_get_name(NULL, NULL) &&
           !runloop_observer_get_name(NULL, NULL));
}

//===-- the visit ----------------------------------------------------------------------------------------------------===//

static void note_item(void *context, runloop_item_kind kind, void *item) {
    static const char *const kinds[] = {"signalled", "descriptor", "timer", "observer"};
    trace(kinds[kind]);
    void **found = context;
    found[kind] = item;
}

TEST("a visit finds the items of one mode: sources, timers, observers") {
    void *found[4] = {0};
    EXPECT_EQ(runloop_visit_items(runloop_current(), MODE, note_item, found), 0);
    runloop_timer *timer = add_timer(MODE, RUNLOOP_NEVER, 0, trace_fire, "t");
    runloop_observer *observer = add_observer(MODE, RUNLOOP_ACTIVITY_EXIT, trace_activity, NULL);
    runloop_source *signalled = add_source(MODE, trace_perform, "s");
    runloop_source *descriptor = add_descriptor(MODE, make_eventfd(0), RUNLOOP_READABLE, trace_ready, "d");
    add_source(OTHER_MODE, trace_perform, "o");
    EXPECT_EQ(runloop_visit_items(runloop_current(), MODE, note_item, found), 4);
    EXPECT_TRACE("signalled descriptor timer observer");
    EXPECT(found[RUNLOOP_ITEM_SIGNALLED_SOURCE] == signalled && found[RUNLOOP_ITEM_DESCRIPTOR_SOURCE] == descriptor);
    EXPECT(found[RUNLOOP_ITEM_TIMER] == timer && found[RUNLOOP_ITEM_OBSERVER] == observer);
}

static void invalidate_item(void *context, runloop_item_kind kind, void *item) {
    (void)context;
    if (kind == RUNLOOP_ITEM_TIMER)
        runloop_timer_invalidate(item);
    else
        runloop_source_invalidate(item);
    trace("gone");
}

TEST("the visited items may be invalidated during the visit") {
    add_timer(MODE, RUNLOOP_NEVER, 0, trace_fire, "t");
    add_timer(MODE, RUNLOOP_NEVER, 0, trace_fire, "u");
    keep_mode(MODE);
    EXPECT_EQ(runloop_visit_items(runloop_current(), MODE, invalidate_item, NULL), 3);
    EXPECT_TRACE("gone gone gone");
    EXPECT(runloop_mode_is_empty(runloop_current(), MODE));
}

TEST("a visit of nothing is refused or empty") {
    EXPECT_EQ(runloop_visit_items(NULL, MODE, note_item, NULL), -EINVAL);
    EXPECT_EQ(runloop_visit_items(runloop_current(), NULL, note_item, NULL), -EINVAL);
    EXPECT_EQ(runloop_visit_items(runloop_current(), MODE, NULL, NULL), -EINVAL);
    keep_mode(MODE);
    EXPECT_EQ(runloop_visit_items(runloop_current(), RUNLOOP_COMMON_MODES, note_item, NULL), 0);
}

//===-- the tracer ---------------------------------------------------------------------------------------------------===//

TEST("a tracer follows a run through its iterations and call-outs") {
    add_timer(MODE, runloop_now_ns(), 0, trace_fire, "fires");
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_SOURCES, trace_activity, NULL);
    runloop_source *source = add_source(MODE, trace_perform, "performs");
    runloop_source_signal(source);
    runloop_source *descriptor = add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, trace_ready, "ready");
    EXPECT_EQ(runloop_set_tracer(&follower), 0);
    poll_mode(MODE);
    EXPECT_TRACE("run turn obs S ret sig performs ret timer fires ret end");
    EXPECT_EQ(last_value, RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TEXT(last_object, MODE);
    trace_reset();
    poll_mode(MODE);
    EXPECT_TRACE("run turn obs S ret desc ready ret end");
    runloop_source_invalidate(descriptor);
}

TEST("a tracer follows posts, and learns when the first of them was made") {
    keep_mode(MODE);
    EXPECT_EQ(runloop_set_tracer(&follower), 0);
    int64_t before_ns = runloop_now_ns();
    runloop_post(runloop_current(), MODE, trace_function, "one", NULL);
    runloop_post(runloop_current(), MODE, trace_function, "two", NULL);
    int64_t after_ns = runloop_now_ns();
    runloop_tracer told = runloop_get_tracer();
    EXPECT(told.trace == follow);
    runloop_has_work(MODE);
    EXPECT_TRACE("tasks");
    EXPECT(last_value >= before_ns && last_value <= after_ns);
    trace_reset();
    poll_mode(MODE);
    EXPECT_TRACE("run turn task one ret task two ret end");
}

TEST("a tracer of sleeps alone is called for these and for the wakes after them") {
    struct alarm_clock *clock = ring_in_sleep(add_timer(MODE, RUNLOOP_NEVER, 0, trace_fire, "fires"));
    EXPECT_EQ(runloop_set_tracer(&follower), 0);
    runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
    pthread_join(clock->id, NULL);
    EXPECT_TRACE("run turn sleep wake timer fires ret end");
    EXPECT_EQ(last_value, RUNLOOP_RESULT_FINISHED);
}

static void stop_third(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    trace("ready");
    if (++*(int *)info == 3)
        runloop_stop(runloop_current());
}

TEST("a wait that finds a descriptor ready is no sleep to a tracer") {
    int turns = 0;
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, stop_third, &turns);
    EXPECT_EQ(runloop_set_tracer(&follower), 0);
    runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
    EXPECT_TRACE("run turn desc ready ret turn desc ready ret turn desc ready ret end");
    EXPECT_EQ(last_value, RUNLOOP_RESULT_STOPPED);
}

TEST("a hosted run sleeps to a tracer when its host does, and wakes when it goes on") {
    int descriptor = make_eventfd(1), turns = 0;
    runloop_source *source = add_descriptor(MODE, descriptor, RUNLOOP_READABLE, stop_third, &turns);
    EXPECT_EQ(runloop_set_tracer(&follower), 0);
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    runloop_source_set_events(source, 0);
    EXPECT_EQ(runloop_hosted_iterate(0), 0);
    EXPECT_TRACE("run turn sleep");
    trace_reset();
    // Nothing to do, so it sleeps on.
    EXPECT_EQ(runloop_hosted_iterate(0), 0);
    runloop_source_set_events(source, RUNLOOP_READABLE);
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("wake desc ready ret turn desc ready ret turn desc ready ret end");
}

static void run_nested(void *info) {
    (void)info;
    poll_mode(OTHER_MODE);
}

TEST("a nested run is within the call-out") {
    keep_mode(MODE);
    keep_mode(OTHER_MODE);
    EXPECT_EQ(runloop_set_tracer(&follower), 0);
    runloop_post(runloop_current(), MODE, run_nested, NULL, NULL);
    poll_mode(MODE);
    EXPECT_TRACE("run turn tasks task run turn end ret end");
}

static void trace_and_call(void *context, runloop_trace_point point, const void *object, int64_t value) {
    follow(context, point, object, value);
    if (point == RUNLOOP_TRACE_TASK) {
        runloop_timer *timer = add_timer(MODE, RUNLOOP_NEVER, 0, trace_fire, "t");
        runloop_timer_invalidate(timer);
        runloop_wake_up(runloop_current());
    }
}

TEST("what a tracer does is not traced") {
    keep_mode(MODE);
    runloop_tracer busy = {.trace = trace_and_call};
    EXPECT_EQ(runloop_set_tracer(&busy), 0);
    runloop_post(runloop_current(), MODE, do_nothing, NULL, NULL);
    poll_mode(MODE);
    EXPECT_TRACE("run turn tasks task ret end");
}

static void end_tracing(void *info) {
    (void)info;
    runloop_set_tracer(NULL);
}

static void begin_tracing(void *info) {
    (void)info;
    runloop_set_tracer(&follower);
}

TEST("a tracer can be set and taken away in a call-out, at once") {
    keep_mode(MODE);
    runloop_post(runloop_current(), MODE, begin_tracing, NULL, NULL);
    runloop_post(runloop_current(), MODE, do_nothing, NULL, NULL);
    runloop_post(runloop_current(), MODE, end_tracing, NULL, NULL);
    runloop_post(runloop_current(), MODE, do_nothing, NULL, NULL);
    poll_mode(MODE);
    EXPECT_TRACE("ret task ret task");
    EXPECT(!runloop_get_tracer().trace);
}

static void *other_thread(void *argument) {
    (void)argument;
    EXPECT(!runloop_get_tracer().trace);
    keep_mode(MODE);
    poll_mode(MODE);
    EXPECT_EQ(runloop_set_tracer(&follower), 0);
    return NULL;
}

TEST("each thread's loop has a tracer of its own, up to its end") {
    EXPECT_EQ(runloop_set_tracer(&follower), 0);
    on_new_thread(other_thread, NULL);
    EXPECT_TRACE("");
}

TEST("a forked child has no tracer") {
    keep_mode(MODE);
    EXPECT_EQ(runloop_set_tracer(&follower), 0);
    pid_t child = fork();
    if (child == 0) {
        runloop *loop = runloop_current();
        _exit(loop && !runloop_get_tracer().trace ? 0 : 1);
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT_EQ(status, 0);
}

static void fork_here(void *info) {
    *(pid_t *)info = fork();
}

TEST("a call-out that forked returns unheard in the child") {
    keep_mode(MODE);
    EXPECT_EQ(runloop_set_tracer(&follower), 0);
    pid_t child = -1;
    runloop_post(runloop_current(), MODE, fork_here, &child, NULL);
    int result = poll_mode(MODE);
    if (child == 0)
        _exit(result == -ECHILD && trace_contains("task") && !trace_contains("ret") ? 0 : 1);
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT_EQ(status, 0);
    EXPECT_TRACE("run turn tasks task ret end");
}

TEST("a tracer without a function is refused") {
    EXPECT_EQ(runloop_set_tracer(&(runloop_tracer){0}), -EINVAL);
    EXPECT(!runloop_get_tracer().trace);
}
