// left_callouts.c — call-outs that are left otherwise than by a return: by pthread_exit and pthread_cancel, which end the thread in order
// (R8, R9, R12), and by longjmp, which ends the program.
#include "items.h"

#include <setjmp.h>
#include <signal.h>

static int released, cancelled;

static void count_release(void *info) {
    (void)info;
    released++;
}

static void count_cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode, (void)info;
    cancelled++;
}

//===-- how a call-out is left ---------------------------------------------------------------------------------------===//

static bool by_cancellation, stays;

static void leave(void) {
    if (stays)
        return;
    if (by_cancellation) {
        pthread_cancel(pthread_self());
        for (;;)
            pause();
    }
    pthread_exit("exit");
}

static void leave_source(runloop_source *source, void *info) {
    (void)source;
    trace(info);
    leave();
}

static void leave_ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    trace(info);
    leave();
}

static void leave_timer(runloop_timer *timer, void *info) {
    (void)timer;
    trace(info);
    leave();
}

static void leave_observer(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity;
    trace(info);
    leave();
}

static void leave_function(void *info) {
    trace(info);
    leave();
}

//===-- what is in the loop ------------------------------------------------------------------------------------------===//

static runloop_source *source, *descriptor_source;
static runloop_timer *timer;
static runloop_observer *observer;
static runloop *last_loop;
static int descriptor;

static void make_items(bool once) {
    descriptor = make_eventfd(0);
    runloop_context context = {.info = "source", .release = count_release};
    runloop_source_config config = {.context = context, .perform = leave_source, .cancel = count_cancel};
    REQUIRE(runloop_source_create(&config, &source) == 0);
    context.info = "descriptor";
    REQUIRE(runloop_descriptor_source_create(&(runloop_descriptor_config){.context = context,
                                                                          .descriptor = descriptor,
                                                                          .events = RUNLOOP_READABLE,
                                                                          .counter = true,
                                                                          .ready = leave_ready},
                                             &descriptor_source) == 0);
    context.info = "timer";
    REQUIRE(runloop_timer_create(&(runloop_timer_config){.context = context,
                                                         .fire_ns = RUNLOOP_NEVER - 1,
                                                         .interval_ns = once ? 0 : MS,
                                                         .fire = leave_timer},
                                 &timer) == 0);
    context.info = "observer";
    REQUIRE(runloop_observer_create(&(runloop_observer_config){.context = context,
                                                               .activities = RUNLOOP_ACTIVITY_BEFORE_SOURCES,
                                                               .repeats = !once,
                                                               .observe = leave_observer},
                                    &observer) == 0);
}

static void release_items(void) {
    runloop_source_release(source);
    runloop_source_release(descriptor_source);
    runloop_timer_release(timer);
    runloop_observer_release(observer);
    close(descriptor);
}

static void by_source(runloop *loop) {
    REQUIRE(runloop_add_source(loop, source, MODE) == 0);
    runloop_source_signal(source);
}

static void by_descriptor(runloop *loop) {
    REQUIRE(runloop_add_source(loop, descriptor_source, MODE) == 0);
    bump(descriptor);
}

static void by_timer(runloop *loop) {
    runloop_timer_set_fire_date(timer, runloop_now_ns());
    REQUIRE(runloop_add_timer(loop, timer, MODE) == 0);
}

static void by_observer(runloop *loop) {
    keep_mode(MODE);
    REQUIRE(runloop_add_observer(loop, observer, MODE) == 0);
}

static void by_task(runloop *loop) {
    REQUIRE(runloop_post(loop, MODE, leave_function, "task", NULL) == 0);
}

struct way {
    void (*enter)(runloop *loop);
    const char *name;
};

static void *leave_by(void *argument) {
    struct way *way = argument;
    last_loop = runloop_retain(runloop_current());
    // All items are in the loop, in several modes; one of them is called.
    runloop_add_source(last_loop, source, OTHER_MODE);
    runloop_add_source(last_loop, descriptor_source, RUNLOOP_COMMON_MODES);
    runloop_add_timer(last_loop, timer, OTHER_MODE);
    runloop_add_observer(last_loop, observer, RUNLOOP_COMMON_MODES);
    runloop_post(last_loop, "third", trace_function, "performed", NULL);
    way->enter(last_loop);
    run_for(MODE, 10 * SECOND);
    trace("returned");
    return NULL;
}

static struct way ways[] = {{by_source, "source"},
                            {by_descriptor, "descriptor"},
                            {by_timer, "timer"},
                            {by_observer, "observer"},
                            {by_task, "task"}};

static void *is_called_elsewhere(void *argument) {
    struct way *way = argument;
    way->enter(runloop_current());
    EXPECT(run_for(MODE, 50 * MS) > 0);
    return NULL;
}

static void expect_usable_after(struct way *way, bool once) {
    released = cancelled = 0;
    make_items(once);
    pthread_t thread;
    void *result = NULL;
    int before = count_descriptors();
    REQUIRE(pthread_create(&thread, NULL, leave_by, way) == 0);
    REQUIRE(pthread_join(thread, &result) == 0);
    EXPECT(by_cancellation ? result == PTHREAD_CANCELED : result != NULL);
    EXPECT(trace_contains(way->name) && !trace_contains("returned") && !trace_contains("performed"));
    trace_reset();
    EXPECT_EQ(runloop_post(last_loop, MODE, trace_function, "late", NULL), -ESHUTDOWN);
    runloop_release(last_loop);
    EXPECT_EQ(count_descriptors(), before);
    EXPECT_EQ(released, 0);
    EXPECT_EQ(cancelled, way->enter == by_source ? 2 : 1); // Once for each mode.
    take(descriptor);
    // Every item is free, and works in another loop; even one that fires once has not returned from its call-out.
    stays = true;
    on_new_thread(is_called_elsewhere, way);
    stays = false;
    EXPECT(trace_contains(way->name));
    trace_reset();
    release_items();
    EXPECT_EQ(released, 4);
}

TEST(
    "R8 R9 a thread can end by pthread_exit inside any kind of call-out; nothing leaks, and the items work elsewhere") {
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        expect_usable_after(&ways[i], false);
        expect_usable_after(&ways[i], true);
    }
}

TEST("R8 R9 a thread can be cancelled inside any kind of call-out; nothing leaks, and the items work elsewhere") {
    by_cancellation = true;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        expect_usable_after(&ways[i], false);
        expect_usable_after(&ways[i], true);
    }
}

//===-- observers that leave the loop in the call-out that ends its thread -------------------------------------------===//

enum { INVALIDATES = 1, REMOVES };
static int what_it_does, told;

static void leave_without(runloop_observer *observer_, runloop_activity activity, void *info) {
    (void)activity, (void)info;
    told++;
    if (stays)
        return;
    if (what_it_does == INVALIDATES)
        runloop_observer_invalidate(observer_);
    else
        runloop_remove_observer(runloop_current(), observer_, MODE);
    pthread_exit(NULL);
}

static void *run_observed(void *unused) {
    keep_mode(MODE);
    EXPECT_EQ(runloop_add_observer(runloop_current(), observer, MODE), 0);
    poll_mode(MODE);
    return unused;
}

static void make_leaving_observer(bool repeats) {
    released = told = 0;
    stays = false;
    runloop_observer_config config = {.context = {.release = count_release},
                                      .activities = RUNLOOP_ACTIVITY_BEFORE_TIMERS,
                                      .repeats = repeats,
                                      .observe = leave_without};
    REQUIRE(runloop_observer_create(&config, &observer) == 0);
}

TEST("R8 the context of an observer is released that invalidates itself in the call-out that ends its thread") {
    what_it_does = INVALIDATES;
    for (int repeats = 0; repeats < 2; repeats++) {
        make_leaving_observer(repeats);
        on_new_thread(run_observed, NULL);
        EXPECT_EQ(told, 1);
        EXPECT_EQ(released, 1);
        EXPECT(!runloop_observer_is_valid(observer));
        runloop_observer_release(observer);
        EXPECT_EQ(released, 1);
    }
}

TEST("R8 R9 an observer that removes itself in the call-out that ends its thread is notified in another loop") {
    what_it_does = REMOVES;
    for (int repeats = 0; repeats < 2; repeats++) {
        make_leaving_observer(repeats);
        on_new_thread(run_observed, NULL);
        EXPECT_EQ(told, 1);
        EXPECT(runloop_observer_is_valid(observer));
        stays = true;
        on_new_thread(run_observed, NULL);
        EXPECT_EQ(told, 2);
        runloop_observer_release(observer);
        EXPECT_EQ(released, 1);
    }
}

//===-- a loop that is being ended -----------------------------------------------------------------------------------===//

static int result_of_run;

static void run_in_cancel(runloop_source *source_, runloop *loop, const char *mode, void *info) {
    (void)source_, (void)loop, (void)mode, (void)info;
    trace("cancel");
    result_of_run = run_for(MODE, 50 * MS);
    EXPECT_EQ(runloop_run(), -ESHUTDOWN);
    EXPECT(!runloop_is_idle(loop));
}

static void *runs_while_it_ends(void *unused) {
    add_timer(MODE, runloop_now_ns(), MS, trace_fire, "fire");
    runloop_source *canceller;
    REQUIRE(runloop_source_create(&(runloop_source_config){.cancel = run_in_cancel}, &canceller) == 0);
    REQUIRE(runloop_add_source(runloop_current(), canceller, MODE) == 0);
    runloop_source_release(canceller);
    return unused;
}

TEST("R12 a run in a loop that is being ended answers -ESHUTDOWN and calls nothing") {
    on_new_thread(runs_while_it_ends, NULL);
    EXPECT_EQ(result_of_run, -ESHUTDOWN);
    EXPECT_TRACE("cancel");
}

//===-- longjmp ------------------------------------------------------------------------------------------------------===//

static jmp_buf outside;

static void jump_out(runloop_timer *jumping, void *info) {
    (void)jumping, (void)info;
    longjmp(outside, 1);
}

static __attribute__((noinline)) void run_deeper(void) {
    volatile char deeper[1000] = {0};
    run_for(MODE, 100 * MS);
    (void)deeper[0];
}

static void *jump_and_run(void *unused) {
    add_timer(MODE, runloop_now_ns(), MS, jump_out, NULL);
    if (!setjmp(outside))
        run_deeper();
    run_for(MODE, 100 * MS);
    return unused;
}

static void *jump_and_run_as_deep(void *unused) {
    add_timer(MODE, runloop_now_ns(), MS, jump_out, NULL);
    bool again = setjmp(outside);
    EXPECT(!again || !runloop_is_idle(runloop_current()));
    run_for(MODE, 100 * MS);
    return unused;
}

static void jump_on_this_thread(void) {
    jump_and_run(NULL);
}

static void jump_on_new_thread(void) {
    on_new_thread(jump_and_run, NULL);
}

static void jump_out_of_task(void *unused) {
    (void)unused;
    longjmp(outside, 1);
}

static void jump_out_of_nested_run(void *unused) {
    (void)unused;
    runloop_perform(runloop_current(), OTHER_MODE, jump_out_of_task, NULL, NULL);
    if (!setjmp(outside))
        run_for(OTHER_MODE, 100 * MS);
}

static void run_around_jump(void) {
    keep_mode(MODE), keep_mode(OTHER_MODE);
    runloop_perform(runloop_current(), MODE, jump_out_of_nested_run, NULL, NULL);
    run_for(MODE, 100 * MS);
}

TEST("R117 a program that leaves a nested run by longjmp ends with a sentence when the call-out around it returns") {
    EXPECT_FATAL(run_around_jump(), "A call-out returned in the middle of a run that is nested in it.");
}

TEST("R117 a program that leaves a call-out by longjmp ends with a sentence at the next run, on any thread") {
    EXPECT_FATAL(jump_on_new_thread(), "A call-out was left by longjmp");
    need_proc(); // by which libc knows the initial thread's stack
    EXPECT_FATAL(jump_on_this_thread(), "A call-out was left by longjmp");
    EXPECT_FATAL(jump_and_run_as_deep(NULL), "A call-out was left by longjmp");
}
