// left_operations.c — operations on sources whose callbacks end the thread: schedule and cancel (R8, R9). What the operation held is released.
#include "items.h"

static int released;
static bool by_cancellation;
static runloop_source *source;
static runloop *last_loop;

static void count_release(void *info) {
    (void)info;
    released++;
}

static void leave(void) {
    if (by_cancellation) {
        pthread_cancel(pthread_self());
        for (;;)
            pause();
    }
    pthread_exit("exit");
}

//===-- callbacks that end the thread --------------------------------------------------------------------------------===//

enum { IN_SCHEDULE = 1, IN_CANCEL };
static int where_it_leaves;

static void leave_schedule(runloop_source *source_, runloop *loop, const char *mode, void *info) {
    (void)source_, (void)loop, (void)mode, (void)info;
    trace("schedule");
    if (where_it_leaves == IN_SCHEDULE)
        leave();
}

static void leave_cancel(runloop_source *source_, runloop *loop, const char *mode, void *info) {
    (void)source_, (void)loop, (void)mode, (void)info;
    trace("cancel");
    if (where_it_leaves == IN_CANCEL)
        leave();
}

static runloop_source *make_leaving_source(void) {
    runloop_source *made = NULL;
    REQUIRE(runloop_source_create(&(runloop_source_config){.context = {.release = count_release},
                                                           .schedule = leave_schedule,
                                                           .cancel = leave_cancel},
                                  &made) == 0);
    return made;
}

static void add_to_mode(runloop *loop) {
    runloop_add_source(loop, source, MODE);
}

static void add_to_common_modes(runloop *loop) {
    runloop_add_source(loop, source, RUNLOOP_COMMON_MODES);
}

static void add_common_mode(runloop *loop) {
    add_to_common_modes(loop);
    where_it_leaves = IN_SCHEDULE;
    runloop_add_common_mode(loop, OTHER_MODE);
}

static void remove_from_mode(runloop *loop) {
    add_to_mode(loop);
    runloop_remove_source(loop, source, MODE);
}

static void remove_from_common_modes(runloop *loop) {
    add_to_common_modes(loop);
    runloop_remove_source(loop, source, RUNLOOP_COMMON_MODES);
}

static void invalidate(runloop *loop) {
    add_to_mode(loop);
    runloop_source_invalidate(source);
}

static void invalidate_in_other_loop(runloop *loop) {
    (void)loop;
    add_to_mode(runloop_main());
    runloop_source_invalidate(source);
}

//===-- operations that call them ------------------------------------------------------------------------------------===//

static const struct operation {
    const char *name;
    int where;
    void (*perform)(runloop *loop);
} operations[] = {
    {"add", IN_SCHEDULE, add_to_mode},
    {"add, common", IN_SCHEDULE, add_to_common_modes},
    {"a mode becomes common", 0, add_common_mode},
    {"remove", IN_CANCEL, remove_from_mode},
    {"remove, common", IN_CANCEL, remove_from_common_modes},
    {"invalidate", IN_CANCEL, invalidate},
    {"invalidate, other loop", IN_CANCEL, invalidate_in_other_loop},
};

static void *leave_operation(void *argument) {
    const struct operation *operation = argument;
    last_loop = runloop_retain(runloop_current());
    where_it_leaves = operation->where;
    operation->perform(last_loop);
    trace("returned");
    return NULL;
}

TEST("R8 R9 a thread can end inside schedule and cancel, in any operation that calls them; nothing leaks") {
    runloop_set_diagnostics_enabled(false);
    for (size_t i = 0; i < 2 * (sizeof operations / sizeof operations[0]); i++) {
        struct operation operation = operations[i / 2];
        by_cancellation = i % 2 == 1;
        released = 0;
        source = make_leaving_source();
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, leave_operation, &operation) == 0);
        REQUIRE(pthread_join(thread, NULL) == 0);
        EXPECT(!trace_contains("returned"));
        trace_reset();
        where_it_leaves = 0;
        // Where it is left depends on how far the operation came.
        runloop_source_invalidate(source);
        runloop_source_release(source);
        runloop_release(last_loop);
        if (released != 1)
            fprintf(stderr, "    %s: the context was released %d times\n", operation.name, released);
        EXPECT_EQ(released, 1);
        trace_reset();
    }
}

static void *leave_in_schedule(void *unused) {
    where_it_leaves = IN_SCHEDULE;
    source = make_leaving_source();
    add_to_mode(runloop_current());
    trace("returned");
    return unused;
}

TEST("R8 R9 a source whose thread ended inside its schedule works in another loop") {
    on_new_thread(leave_in_schedule, NULL);
    EXPECT(trace_contains("schedule") && !trace_contains("returned"));
    trace_reset();
    where_it_leaves = 0;
    EXPECT_EQ(runloop_add_source(runloop_current(), source, MODE), 0);
    EXPECT_TRACE("schedule");
    runloop_source_invalidate(source);
    EXPECT_TRACE("cancel");
    runloop_source_release(source);
    EXPECT_EQ(released, 1);
}
