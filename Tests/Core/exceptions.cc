// exceptions.cc — an exception that leaves a call-out ends the program at once, before any frame of the loop is unwound: nobody catches it
// outside of the run.
#include <cstdio>
#include <stdexcept>

#include "test.h"

static const char *const MODE = "test";

/// Its destructor would run if the frames of the loop were unwound.
struct witness {
    const char *text;
    ~witness() {
        fprintf(stderr, "%s\n", text);
    }
};

[[noreturn]] static void throw_error(const char *text) {
    throw std::runtime_error(text);
}

static void throw_from_timer(runloop_timer *, void *) {
    throw_error("from a timer");
}

static void throw_from_source(runloop_source *, void *) {
    throw_error("from a source");
}

static void throw_from_descriptor(runloop_source *, runloop_readiness, void *) {
    throw_error("from a descriptor");
}

static void throw_from_observer(runloop_observer *, runloop_activity, void *) {
    throw_error("from an observer");
}

static void throw_from_task(void *) {
    throw_error("from a task");
}

static void throw_from_schedule(runloop_source *, runloop *, const char *, void *) {
    throw_error("from a schedule");
}

static void throw_from_release(void *) {
    throw_error("from a release");
}

static void run_and_catch(void (*prepare)(runloop *)) {
    try {
        witness outside = {"the run was unwound"};
        prepare(runloop_current());
        runloop_run_in_mode(MODE, SECOND, true);
    } catch (std::exception &error) {
        fprintf(stderr, "caught: %s\n", error.what());
        _exit(0);
    }
}

static void with_timer(runloop *loop) {
    runloop_timer_config config = {};
    config.fire = throw_from_timer;
    runloop_timer *timer;
    runloop_timer_create(&config, &timer);
    runloop_add_timer(loop, timer, MODE);
}

static void with_source(runloop *loop) {
    runloop_source_config config = {};
    config.perform = throw_from_source;
    runloop_source *source;
    runloop_source_create(&config, &source);
    runloop_add_source(loop, source, MODE);
    runloop_source_signal(source);
}

static void with_descriptor(runloop *loop) {
    runloop_descriptor_config config = {};
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    config.descriptor = ends[1];
    config.events = RUNLOOP_WRITABLE;
    config.ready = throw_from_descriptor;
    runloop_source *source;
    runloop_descriptor_source_create(&config, &source);
    runloop_add_source(loop, source, MODE);
}

static void with_observer(runloop *loop) {
    runloop_observer_config config = {};
    config.activities = RUNLOOP_ACTIVITY_ENTRY;
    config.observe = throw_from_observer;
    runloop_observer *observer;
    runloop_observer_create(&config, &observer);
    runloop_add_observer(loop, observer, MODE);
    runloop_post(loop, MODE, throw_from_task, nullptr, nullptr);
}

static void with_task(runloop *loop) {
    runloop_post(loop, MODE, throw_from_task, nullptr, nullptr);
}

static void with_schedule(runloop *loop) {
    runloop_source_config config = {};
    config.schedule = throw_from_schedule;
    runloop_source *source;
    runloop_source_create(&config, &source);
    runloop_add_source(loop, source, MODE);
}

static void with_release(runloop *) {
    runloop_timer_config config = {};
    config.context.release = throw_from_release;
    runloop_timer *timer;
    runloop_timer_create(&config, &timer);
    runloop_timer_invalidate(timer);
}

static void throw_from_visit(void *, runloop_item_kind, void *) {
    throw_error("from a visit");
}

static void with_visit(runloop *loop) {
    with_source(loop);
    runloop_visit_items(loop, MODE, throw_from_visit, nullptr);
}

static void expect_end(void (*prepare)(runloop *), const char *text) {
    char report[4096];
    bool aborted = TEST_ABORTS(run_and_catch(prepare), report);
    EXPECT(aborted);
    EXPECT(strstr(report, text));
    EXPECT(!strstr(report, "unwound") && !strstr(report, "caught"));
}

TEST("an exception out of a call-out of any kind ends the program, and is never caught outside of the run") {
    expect_end(with_timer, "from a timer");
    expect_end(with_source, "from a source");
    expect_end(with_descriptor, "from a descriptor");
    expect_end(with_observer, "from an observer");
    expect_end(with_task, "from a task");
    expect_end(with_schedule, "from a schedule");
    expect_end(with_release, "from a release");
    expect_end(with_visit, "from a visit");
}

static void catch_inside(void *caught) {
    try {
        throw_error("inside");
    } catch (std::exception &) {
        *static_cast<bool *>(caught) = true;
    }
}

TEST("an exception that a call-out catches itself is nobody else's business") {
    bool caught = false;
    runloop_post(runloop_current(), MODE, catch_inside, &caught, nullptr);
    runloop_run_in_mode(MODE, SECOND, false);
    EXPECT(caught);
}

static void exit_thread(void *) {
    pthread_exit(nullptr);
}

static void *run_until_exit(void *) {
    runloop_post(runloop_current(), MODE, exit_thread, nullptr, nullptr);
    runloop_run_in_mode(MODE, SECOND, false);
    trace("returned");
    return nullptr;
}

TEST("R8 in C++, too, a thread can end by pthread_exit in a call-out") {
    on_new_thread(run_until_exit, nullptr);
    EXPECT_TRACE("");
}
