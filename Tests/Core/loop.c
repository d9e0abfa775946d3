// loop.c — a thread and its loop: creation, lifetime, and what its end does (R1–R13, R120).
#include "items.h"

static void *ask_main(void *unused) {
    (void)unused;
    return runloop_main();
}

static void *compare_with_main(void *argument) {
    EXPECT(runloop_current() != argument);
    EXPECT(runloop_current() == runloop_current());
    EXPECT(!runloop_is_current(argument));
    EXPECT(runloop_is_current(runloop_current()));
    return NULL;
}

TEST("R1 threads have different loops") {
    on_new_thread(compare_with_main, runloop_current());
}

TEST("R2 any thread can get the main loop before the main thread has asked for it") {
    pthread_t threads[16];
    for (int i = 0; i < 16; i++)
        REQUIRE(pthread_create(&threads[i], NULL, ask_main, NULL) == 0);
    void *loops[16];
    for (int i = 0; i < 16; i++)
        REQUIRE(pthread_join(threads[i], &loops[i]) == 0);
    REQUIRE(loops[0]);
    for (int i = 1; i < 16; i++)
        EXPECT(loops[i] == loops[0]);
    EXPECT(runloop_current() == loops[0]);
    EXPECT(runloop_main() == loops[0]);
    EXPECT(runloop_is_current(loops[0]));
}

static void *count_own_descriptors(void *unused) {
    (void)unused;
    int before = count_descriptors();
    REQUIRE(runloop_current());
    return (void *)(intptr_t)(count_descriptors() - before);
}

TEST("R3 creating the first loop of a process creates no other") {
    pthread_t thread;
    void *made = NULL;
    REQUIRE(pthread_create(&thread, NULL, count_own_descriptors, NULL) == 0 && pthread_join(thread, &made) == 0);
    EXPECT_EQ((intptr_t)made, 2);
}

TEST("R4 a new loop has only the default mode, which is common; it isn't running and ignores wake-ups") {
    runloop *loop = runloop_current();
    const char *names[4] = {0};
    EXPECT_EQ(runloop_get_modes(loop, names, 4), 1);
    EXPECT_TEXT(names[0], RUNLOOP_DEFAULT_MODE);
    EXPECT(runloop_mode_is_common(loop, RUNLOOP_DEFAULT_MODE));
    EXPECT(!runloop_mode_is_common(loop, MODE));
    EXPECT(!runloop_current_mode(loop));
    EXPECT(!runloop_is_waiting(loop));
    keep_mode(MODE);
    trace_activities(MODE);
    EXPECT_EQ(runloop_wake_up(loop), 0);
    EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S W A Exit");
}

static void trace_mode(void *loop) {
    const char *mode = runloop_current_mode(loop);
    EXPECT(!mode || mode == runloop_mode_name(mode));
    trace(mode ? mode : "none");
}

static void trace_mode_of_activity(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity;
    trace_mode(info);
}

static void run_other_mode(void *loop) {
    trace_mode(loop);
    poll_mode(OTHER_MODE);
    trace_mode(loop);
}

TEST("R5 the current mode is that of the innermost run, even while its Exit observers run") {
    runloop *loop = runloop_current();
    keep_mode(MODE);
    keep_mode(OTHER_MODE);
    add_observer(OTHER_MODE, RUNLOOP_ACTIVITY_ENTRY | RUNLOOP_ACTIVITY_EXIT, trace_mode_of_activity, loop);
    runloop_perform(loop, MODE, run_other_mode, loop, NULL);
    trace_mode(loop);
    poll_mode(MODE);
    trace_mode(loop);
    EXPECT_TRACE("none test other other test none");
}

TEST("R6 a retain and a release leave the loop to its thread") {
    runloop *loop = runloop_current();
    for (int i = 0; i < 3; i++)
        EXPECT(runloop_retain(loop) == loop);
    for (int i = 0; i < 3; i++)
        runloop_release(loop);
    EXPECT(runloop_current() == loop);
    runloop_source_signal(add_source(MODE, trace_perform, "performed"));
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("performed");
}

//===-- the end of a thread ------------------------------------------------------------------------------------------===//

// The system calls the destructor that watches the end of the loop four times, but the thread sanitizer drops a thread
// after the third. Its key is created after the loop's, so that it is called after the loop's in each iteration.
enum { PASSES = UNDER_THREAD_SANITIZER ? 3 : 4 };

static pthread_key_t end_key;
static int end_pass;
static runloop *end_loop;

static void look_at_pass(void *unused) {
    end_pass++;
    runloop *loop = runloop_current();
    if (end_pass <= 2) {
        EXPECT(loop && loop == end_loop);
        runloop_perform(loop, MODE, trace_function, "ran", NULL);
        EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    } else {
        EXPECT(!loop);
        EXPECT_EQ(poll_mode(MODE), -ESHUTDOWN);
        EXPECT_EQ(runloop_hosted_descriptor(), -ESHUTDOWN);
        EXPECT_EQ(runloop_hosted_begin(MODE), -ESHUTDOWN);
        EXPECT(!runloop_current());
    }
    if (end_pass < PASSES)
        pthread_setspecific(end_key, unused);
}

static void *thread_with_key(void *destructor) {
    end_loop = runloop_current();
    keep_mode(MODE);
    REQUIRE(pthread_key_create(&end_key, *(void (**)(void *))destructor) == 0);
    pthread_setspecific(end_key, &end_key);
    return NULL;
}

TEST("R7 the loop works in two iterations of key destructors, is torn down in the third, and is never created again") {
    int before = count_descriptors();
    void (*destructor)(void *) = look_at_pass;
    on_new_thread(thread_with_key, &destructor);
    EXPECT_EQ(end_pass, PASSES);
    EXPECT_TRACE("ran ran");
    EXPECT_EQ(count_descriptors(), before);
}

static void ask_main_late(void *unused) {
    if (++end_pass >= 3) {
        EXPECT(!runloop_current());
        EXPECT(runloop_main());
        EXPECT(!runloop_current());
        EXPECT_EQ(poll_mode(MODE), -ESHUTDOWN);
    }
    if (end_pass < PASSES)
        pthread_setspecific(end_key, unused);
}

TEST("R7 R2 a thread whose loop has ended can still get the main loop, and does not get its own loop back") {
    int before = count_descriptors();
    void (*destructor)(void *) = ask_main_late;
    on_new_thread(thread_with_key, &destructor);
    EXPECT_EQ(end_pass, PASSES);
    EXPECT_EQ(count_descriptors(), before + 2);
}

static void first_use_in_pass(void *unused) {
    (void)unused;
    REQUIRE(runloop_current());
    keep_mode(MODE);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
}

static void *thread_with_late_loop(void *unused) {
    (void)unused;
    pthread_setspecific(end_key, &end_key);
    return NULL;
}

TEST("R7 a loop first asked for by a key destructor is torn down too") {
    int before = count_descriptors();
    REQUIRE(pthread_key_create(&end_key, first_use_in_pass) == 0);
    on_new_thread(thread_with_late_loop, NULL);
    EXPECT_EQ(count_descriptors(), before);
}

static pthread_t end_thread;
static runloop_source *end_source;
static runloop_timer *end_timer;
static runloop_observer *end_observer;
static int64_t end_date;

static void trace_cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    EXPECT(source == end_source);
    EXPECT(loop == end_loop);
    EXPECT(pthread_equal(pthread_self(), end_thread));
    EXPECT(strcmp(mode, MODE) == 0 || strcmp(mode, OTHER_MODE) == 0);
    trace(info);
}

static void trace_release(void *info) {
    trace(info);
}

static void make_end_items(const char *release) {
    runloop_context context = {.info = (void *)release, .release = trace_release};
    runloop_source_config source = {.context = {.info = "cancel"}, .cancel = trace_cancel};
    runloop_timer_config timer = {.context = context, .fire_ns = end_date = runloop_now_ns() + 100 * SECOND};
    runloop_observer_config observer = {.context = context, .activities = RUNLOOP_ACTIVITY_ALL};
    REQUIRE(runloop_source_create(&source, &end_source) == 0);
    REQUIRE(runloop_timer_create(&timer, &end_timer) == 0);
    REQUIRE(runloop_observer_create(&observer, &end_observer) == 0);
    const char *modes[] = {MODE, OTHER_MODE};
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(runloop_add_source(end_loop, end_source, modes[i]), 0);
        EXPECT_EQ(runloop_add_timer(end_loop, end_timer, modes[i]), 0);
        EXPECT_EQ(runloop_add_observer(end_loop, end_observer, modes[i]), 0);
    }
}

static void release_end_items(void) {
    runloop_source_release(end_source);
    runloop_timer_release(end_timer);
    runloop_observer_release(end_observer);
}

static void *thread_with_items(void *keep) {
    end_thread = pthread_self();
    end_loop = runloop_current();
    make_end_items("release");
    runloop_perform(end_loop, MODE, trace_function, "first", trace_function);
    if (!keep)
        release_end_items();
    return NULL;
}

static void *thread_with_more_functions(void *keep) {
    thread_with_items(keep);
    runloop_perform(end_loop, "third", trace_function, "never", NULL);
    runloop_post(end_loop, RUNLOOP_COMMON_MODES, trace_function, "second", trace_function);
    return NULL;
}

TEST("R8 the end of a thread cancels each source once per mode, then discards the tasks that are left") {
    int before = count_descriptors();
    on_new_thread(thread_with_items, "keep");
    EXPECT_TRACE("cancel cancel first");
    EXPECT_EQ(count_descriptors(), before);
    release_end_items();
    EXPECT_TRACE("release release"); // The timer's and the observer's.
    on_new_thread(thread_with_more_functions, "keep");
    EXPECT_TRACE("cancel cancel first second");
}

TEST("R8 R9 items that outlive the thread stay valid, keep their dates, and can be added to another loop") {
    on_new_thread(thread_with_items, "keep");
    EXPECT(runloop_source_is_valid(end_source));
    EXPECT(runloop_timer_is_valid(end_timer));
    EXPECT(runloop_observer_is_valid(end_observer));
    EXPECT_EQ(runloop_timer_get_fire_date(end_timer), end_date);
    trace_reset();
    end_loop = runloop_current();
    end_thread = pthread_self();
    EXPECT_EQ(runloop_add_source(end_loop, end_source, MODE), 0);
    EXPECT_EQ(runloop_add_timer(end_loop, end_timer, MODE), 0);
    EXPECT_EQ(runloop_add_observer(end_loop, end_observer, MODE), 0);
    EXPECT_EQ(runloop_next_fire_date(end_loop, MODE), end_date);
    EXPECT_TRACE("");
    runloop_timer_invalidate(end_timer);
    runloop_observer_invalidate(end_observer);
    runloop_source_invalidate(end_source);
    EXPECT_TRACE("release release cancel");
}

TEST("R9 items that only the loop held are freed with it, and their contexts released once") {
    on_new_thread(thread_with_items, NULL);
    EXPECT(!strncmp(test_trace_text, "cancel cancel ", 14));
    int releases = 0;
    for (const char *word = test_trace_text; (word = strstr(word, "release")); word++)
        releases++;
    EXPECT_EQ(releases, 2);
}

static void use_finished_loop(runloop *loop) {
    runloop_source *source = make_source(NULL, NULL);
    runloop_source *descriptor = make_descriptor(-1, RUNLOOP_READABLE, NULL, NULL);
    runloop_timer *timer = make_timer(RUNLOOP_NEVER, 0, NULL, NULL);
    runloop_observer *observer = make_observer(RUNLOOP_ACTIVITY_ALL, NULL, NULL);
    const char *modes[] = {RUNLOOP_DEFAULT_MODE, MODE, RUNLOOP_COMMON_MODES, "new"};
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(runloop_add_source(loop, source, modes[i]), -ESHUTDOWN);
        EXPECT_EQ(runloop_add_source(loop, descriptor, modes[i]), -ESHUTDOWN);
        EXPECT_EQ(runloop_add_timer(loop, timer, modes[i]), -ESHUTDOWN);
        EXPECT_EQ(runloop_add_observer(loop, observer, modes[i]), -ESHUTDOWN);
        EXPECT_EQ(runloop_perform(loop, modes[i], trace_function, "performed", trace_function), -ESHUTDOWN);
        EXPECT_EQ(runloop_post(loop, modes[i], trace_function, "performed", trace_function), -ESHUTDOWN);
        EXPECT_EQ(runloop_remove_source(loop, source, modes[i]), 0);
        EXPECT_EQ(runloop_remove_timer(loop, timer, modes[i]), 0);
        EXPECT_EQ(runloop_remove_observer(loop, observer, modes[i]), 0);
        EXPECT(!runloop_contains_source(loop, source, modes[i]));
        EXPECT(!runloop_contains_timer(loop, timer, modes[i]));
        EXPECT(!runloop_contains_observer(loop, observer, modes[i]));
        EXPECT_EQ(runloop_next_fire_date(loop, modes[i]), RUNLOOP_NEVER);
    }
    EXPECT_EQ(runloop_post_in_modes(loop, modes, 2, trace_function, "performed", trace_function), -ESHUTDOWN);
    EXPECT_EQ(runloop_perform_in_modes(loop, modes, 2, trace_function, "performed", trace_function), -ESHUTDOWN);
    EXPECT_EQ(runloop_add_common_mode(loop, "new"), -ESHUTDOWN);
    EXPECT_EQ(runloop_stop(loop), 0);
    EXPECT_EQ(runloop_stop_latched(loop), 0);
    EXPECT_EQ(runloop_wake_up(loop), 0);
    EXPECT(!runloop_is_current(loop));
    EXPECT(!runloop_is_waiting(loop));
    EXPECT(!runloop_current_mode(loop));
    char *description = runloop_copy_description(loop);
    EXPECT(description);
    free(description);
    EXPECT_TRACE("");
    EXPECT_EQ(runloop_add_timer(runloop_current(), timer, MODE), 0); // It was in no mode.
    runloop_timer_release(timer);
    runloop_source_release(source);
    runloop_source_release(descriptor);
    runloop_observer_release(observer);
}

static void *retain_own(void *unused) {
    (void)unused;
    return runloop_retain(runloop_current());
}

TEST("R10 a retained loop outlives its thread as an object on which nothing ever runs") {
    int before = count_descriptors();
    runloop *loop = NULL;
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, retain_own, NULL) == 0 && pthread_join(thread, (void **)&loop) == 0);
    int ours = count_descriptors();
    use_finished_loop(loop);
    runloop_retain(loop);
    runloop_release(loop);
    runloop_release(loop);
    EXPECT(ours - before <= 2);
    EXPECT_EQ(count_descriptors(), before + 2); // Those of this thread's loop, created in the meantime.
}

TEST("R11 an item that its creator released still works, and is freed when the loop releases it") {
    runloop_source_config config = {.context = {.info = "released", .release = trace_release},
                                    .perform = trace_perform};
    runloop_source *source = NULL;
    REQUIRE(runloop_source_create(&config, &source) == 0);
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    REQUIRE(runloop_add_source(runloop_current(), source, OTHER_MODE) == 0);
    runloop_source_signal(source);
    runloop_source_release(source);
    runloop_remove_source(runloop_current(), source, OTHER_MODE);
    EXPECT_TRACE("");
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("released");
    runloop_remove_source(runloop_current(), source, MODE);
    EXPECT_TRACE("released");
}

static void add_during_end(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)info, (void)mode;
    trace("cancel");
    runloop_source *another = make_source(NULL, NULL);
    runloop_timer *timer = make_timer(0, 0, trace_fire, "fired");
    EXPECT_EQ(runloop_add_source(loop, another, MODE), -ESHUTDOWN);
    EXPECT_EQ(runloop_add_source(loop, source, "new"), -ESHUTDOWN);
    EXPECT_EQ(runloop_add_timer(loop, timer, MODE), -ESHUTDOWN);
    EXPECT_EQ(runloop_perform(loop, MODE, trace_function, "performed", trace_function), -ESHUTDOWN);
    EXPECT_EQ(runloop_add_common_mode(loop, MODE), -ESHUTDOWN);
    int result = poll_mode(MODE);
    EXPECT(result == RUNLOOP_RESULT_FINISHED || result == -ESHUTDOWN);
    runloop_source_release(another);
    runloop_timer_release(timer);
}

static void *thread_that_adds_at_its_end(void *unused) {
    (void)unused;
    runloop_source_config config = {.cancel = add_during_end};
    runloop_source *source = NULL;
    REQUIRE(runloop_source_create(&config, &source) == 0);
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    runloop_source_release(source);
    return NULL;
}

TEST("R12 a loop that is being torn down accepts nothing and runs nothing") {
    on_new_thread(thread_that_adds_at_its_end, NULL);
    EXPECT_TRACE("cancel");
}

static void discard_and_look(void *loop) {
    trace("discarded");
    EXPECT_EQ(runloop_post(loop, MODE, trace_function, "performed", trace_function), -ESHUTDOWN);
}

static void *thread_with_curious_discard(void *unused) {
    (void)unused;
    runloop_perform(runloop_current(), MODE, trace_function, runloop_current(), discard_and_look);
    return NULL;
}

TEST("R12 a discard function can still call the loop, and is refused") {
    on_new_thread(thread_with_curious_discard, NULL);
    EXPECT_TRACE("discarded");
}
