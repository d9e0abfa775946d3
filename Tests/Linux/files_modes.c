// files_modes.c — watches in modes and loops: who reads for whom, what waits for its mode, and that a mode ends with its last watch.
#include "files.h"
#include "shown_clock.h"

static runloop_watch *make_watch_of(const char *path, runloop_watch_scope scope) {
    runloop_watch_config config = {.path = path, .scope = scope, .changed = trace_changes};
    runloop_watch *watch = NULL;
    REQUIRE(runloop_watch_create(&config, &watch) == 0);
    return watch;
}

static runloop_watch *make_watch(const char *path) {
    return make_watch_of(path, RUNLOOP_WATCH_FILE);
}

static void add_to(runloop_watch *watch, const char *mode) {
    EXPECT_EQ(runloop_add_source(runloop_current(), watch, mode), 0);
}

static void remove_from(runloop_watch *watch, const char *mode) {
    EXPECT_EQ(runloop_remove_source(runloop_current(), watch, mode), 0);
}

static void pass_over(void *context, runloop_item_kind kind, void *item) {
    (void)context, (void)kind, (void)item;
}

static int count_items(runloop *loop, const char *mode) {
    return runloop_visit_items(loop, mode, pass_over, NULL);
}

//===-- modes --------------------------------------------------------------------------------------------------------===//

TEST("a watch is not called in runs of another mode, by whose watch its change was read, and then waits for its own") {
    enter_folder();
    runloop_watch *one = make_watch("1"), *other = make_watch("2");
    add_to(one, MODE);
    add_to(other, OTHER_MODE);
    write_file("1", "text");
    write_file("2", "text");
    run_for(OTHER_MODE, 10 * MS);
    EXPECT_TRACE("+2 |");
    EXPECT_TOLD_IN(MODE, "+1 |");
    // Nothing is left of it for either.
    poll_mode(MODE);
    poll_mode(OTHER_MODE);
    EXPECT_TRACE("");
    // And what a mode without watches does not read waits in the kernel.
    keep_mode("third");
    write_file("1", "more");
    EXPECT_EQ(run_for("third", 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
    remove_from(one, MODE);
    add_to(one, OTHER_MODE);
    EXPECT_TOLD_IN(OTHER_MODE, "*1 |");
    end_watch(one);
    end_watch(other);
}

TEST("what one watch reports in a mode is one call, in the first iteration") {
    enter_folder();
    runloop_watch *watch = make_watch("1");
    add_to(watch, MODE);
    write_file("1", "text");
    EXPECT_EQ(runloop_run_in_mode(MODE, 0, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("+1 |");
    // What strangers do beside the folder calls the instance, and is told to nobody.
    poll_mode(MODE);
    EXPECT_TRACE("");
    end_watch(watch);
}

TEST("what is noticed while a watch is paused waits until it is woken, also if another one reads it") {
    enter_folder();
    runloop_watch *watch = make_watch("1"), *other = make_watch("2");
    add_to(watch, MODE);
    add_to(other, MODE);
    EXPECT_EQ(runloop_source_set_events(watch, 0), 0);
    write_file("1", "text");
    write_file("2", "text");
    RUN_UNTIL(MODE, trace_contains("|"));
    run_for(MODE, 5 * MS);
    EXPECT_TRACE("+2 |");
    EXPECT_EQ(runloop_source_set_events(watch, RUNLOOP_READABLE), 0);
    EXPECT_EQ(runloop_source_wake(watch), 0);
    EXPECT_TOLD_IN(MODE, "+1 |");
    end_watch(watch);
    end_watch(other);
}

TEST("a mode is finished when its last watch has left it, and not before") {
    enter_folder();
    runloop_watch *watches[] = {make_watch("1"), make_watch("2"), make_watch("3")};
    for (int i = 0; i < 3; i++) {
        add_to(watches[i], MODE);
        add_to(watches[i], OTHER_MODE);
    }
    write_file("3", "text"); // whoever is left has something to read
    remove_from(watches[1], MODE);
    runloop_source_invalidate(watches[0]);
    EXPECT_EQ(run_for(MODE, 0), RUNLOOP_RESULT_TIMED_OUT);
    remove_from(watches[2], MODE);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_FINISHED);
    trace_reset();
    write_file("2", "text");
    RUN_UNTIL(OTHER_MODE, trace_contains("+2"));
    EXPECT_EQ(run_for(OTHER_MODE, 0), RUNLOOP_RESULT_TIMED_OUT);
    runloop_source_invalidate(watches[1]);
    runloop_source_invalidate(watches[2]);
    EXPECT_EQ(run_for(OTHER_MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_FINISHED);
    for (int i = 0; i < 3; i++)
        runloop_source_release(watches[i]);
}

TEST("common modes, one of them later, have the watch and are finished without it") {
    enter_folder();
    runloop_watch *watch = make_watch("1");
    runloop *loop = runloop_current();
    REQUIRE(runloop_add_common_mode(loop, MODE) == 0);
    add_to(watch, RUNLOOP_COMMON_MODES);
    REQUIRE(runloop_add_common_mode(loop, OTHER_MODE) == 0);
    write_file("1", "text");
    EXPECT_TOLD_IN(MODE, "+1 |");
    write_file("1", "more");
    EXPECT_TOLD_IN(OTHER_MODE, "*1 |");
    remove_from(watch, OTHER_MODE);
    write_file("1", "more");
    RUN_UNTIL(MODE, trace_contains("|"));
    remove_from(watch, RUNLOOP_COMMON_MODES);
    // Of the main loop, the main queue may keep common modes.
    EXPECT_EQ(count_items(loop, MODE) + count_items(loop, OTHER_MODE), 0);
    runloop_source_release(watch);
}

static runloop *main_loop;

static void nest(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    trace_changes(watch, changes, count, info);
    if (count > 0 && changes[0].kind == RUNLOOP_CHANGE_CREATED) {
        // Its own next change, and that of another one which was noticed with the first.
        write_file("1", "more");
        RUN_UNTIL(MODE, trace_contains("*1 |") && trace_contains("+2 |"));
    }
}

TEST("a run in a call has the changes of all, those that were noticed before the call too") {
    enter_folder();
    runloop_watch_config config = {.path = "1", .scope = RUNLOOP_WATCH_FILE, .changed = nest};
    runloop_watch *nesting = add_watch_with(&config, MODE), *other = make_watch("2");
    add_to(other, MODE);
    write_file("1", "text");
    write_file("2", "text");
    poll_mode(MODE);
    EXPECT(trace_contains("+1 |") && trace_contains("*1 |") && trace_contains("+2 |"));
    end_watch(nesting);
    end_watch(other);
}

//===-- settle times -------------------------------------------------------------------------------------------------===//

TEST("a settle time is one of the loop's clock") {
    enter_folder();
    use_shown_clock();
    write_file("f", "text");
    runloop_watch_config config = {
        .path = "f", .scope = RUNLOOP_WATCH_FILE, .settle_ns = 10 * MS, .changed = trace_changes};
    runloop_watch *watch = add_watch_with(&config, MODE);
    write_file("f", "more");
    look_a_while(MODE);
    shown_ns = 9 * MS;
    look_a_while(MODE);
    EXPECT_TRACE("");
    // Something more, so it begins again.
    write_file("f", "more");
    look_a_while(MODE);
    shown_ns = 18 * MS;
    look_a_while(MODE);
    EXPECT_TRACE("");
    shown_ns = 19 * MS;
    LOOK_UNTIL(trace_contains("|"));
    EXPECT_TRACE("*f |");
    // One that passes while another mode runs is reported as soon as its own does.
    keep_mode(OTHER_MODE);
    write_file("f", "more");
    look_a_while(MODE);
    shown_ns = 40 * MS;
    look_a_while(OTHER_MODE);
    EXPECT_TRACE("");
    poll_mode(MODE);
    EXPECT_TRACE("*f |");
    end_watch(watch);
}

//===-- threads ------------------------------------------------------------------------------------------------------===//

static runloop_watch *moved;

static void *add_moved(void *argument) {
    (void)argument;
    REQUIRE(runloop_add_source(main_loop, moved, MODE) == 0);
    return NULL;
}

static void *remove_moved(void *argument) {
    (void)argument;
    REQUIRE(runloop_remove_source(main_loop, moved, MODE) == 0);
    return NULL;
}

static void *make_moved(void *argument) {
    (void)argument;
    moved = make_watch("1");
    return NULL;
}

TEST("a watch that another thread makes, adds, removes and adds again reports what happened meanwhile") {
    enter_folder();
    main_loop = runloop_current();
    keep_mode(MODE);
    on_new_thread(make_moved, NULL);
    for (int i = 0; i < 3; i++) {
        write_file("1", "text");
        poll_mode(MODE);
        EXPECT_TRACE("");
        on_new_thread(add_moved, NULL);
        EXPECT_TOLD_IN(MODE, i == 0 ? "+1 |" : "*1 |");
        on_new_thread(remove_moved, NULL);
    }
    end_watch(moved);
}

static void *end_sleep(void *argument) {
    WAIT_UNTIL(runloop_is_waiting(argument));
    runloop_source_invalidate(moved);
    return NULL;
}

TEST("a sleep ends when another thread takes the last watch away") {
    enter_folder();
    moved = make_watch("1");
    add_to(moved, MODE);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, end_sleep, runloop_current()) == 0);
    EXPECT_EQ(run_for(MODE, 30 * SECOND), RUNLOOP_RESULT_FINISHED);
    REQUIRE(pthread_join(thread, NULL) == 0);
    runloop_source_release(moved);
}

enum { ROUNDS = 2000 };

static pthread_barrier_t barrier;

static void *add_in_rounds(void *argument) {
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&barrier);
        add_moved(NULL);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void *remove_in_rounds(void *argument) {
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&barrier);
        while (i % 2 && !runloop_contains_source(main_loop, moved, MODE))
            continue;
        remove_moved(NULL);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

TEST("threads that add and remove a watch at once leave the instance where the watch is, and nowhere else") {
    enter_folder();
    main_loop = runloop_current();
    REQUIRE(mkdir("t", 0777) == 0);
    for (char name[] = "t/a"; name[2] <= 'z'; name[2]++)
        write_file(name, "text");
    moved = make_watch("1");
    pthread_t threads[2];
    REQUIRE(pthread_barrier_init(&barrier, NULL, 3) == 0);
    REQUIRE(pthread_create(&threads[0], NULL, add_in_rounds, NULL) == 0);
    REQUIRE(pthread_create(&threads[1], NULL, remove_in_rounds, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&barrier);
        // Which keeps the lock for a while, so the two come to it in any order.
        runloop_source_release(make_watch_of("t", RUNLOOP_WATCH_TREE));
        pthread_barrier_wait(&barrier);
        // The instance is the other item.
        REQUIRE(count_items(main_loop, MODE) == (runloop_contains_source(main_loop, moved, MODE) ? 2 : 0));
        poll_mode(MODE);
        remove_moved(NULL);
        REQUIRE(count_items(main_loop, MODE) == 0);
    }
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    pthread_barrier_destroy(&barrier);
    end_watch(moved);
}

static void *watch_in_vain(void *argument) {
    (void)argument;
    add_to(moved, MODE);
    runloop_watch *own = make_watch("2");
    add_to(own, MODE);
    runloop_source_release(own);
    write_file("1", "text");
    return NULL;
}

TEST("a thread may end with watches of its own and of others, which go on") {
    enter_folder();
    int before = count_in_instances(false);
    moved = make_watch("1");
    add_to(moved, MODE);
    on_new_thread(watch_in_vain, NULL);
    EXPECT_EQ(count_in_instances(false), before + 1);
    EXPECT_TOLD_IN(MODE, "+1 |");
    end_watch(moved);
    EXPECT_EQ(count_in_instances(false), before);
}

//===-- forks --------------------------------------------------------------------------------------------------------===//

static runloop_watch *inherited[2];

static void use_child(void) {
    // What the parent has noticed and not reported is not reported here either.
    add_to(inherited[0], MODE);
    poll_mode(MODE);
    EXPECT_TRACE("");
    remove_from(inherited[0], MODE);
    EXPECT_EQ(run_for(MODE, 0), RUNLOOP_RESULT_FINISHED);
    end_watch(inherited[0]);
    end_watch(inherited[1]);
    int instances = count_in_instances(false);
    runloop_watch *own = make_watch("1");
    EXPECT_EQ(count_in_instances(false), instances + 1);
    add_to(own, MODE);
    write_file("1", "more");
    EXPECT_TOLD_IN(MODE, "*1 |");
    end_watch(own);
    EXPECT_EQ(count_in_instances(false), instances);
}

TEST("a forked child neither reads its parent's instance nor takes it into its modes, and has one of its own") {
    enter_folder();
    inherited[0] = make_watch("1");
    inherited[1] = make_watch("2");
    add_to(inherited[0], MODE);
    add_to(inherited[0], OTHER_MODE);
    add_to(inherited[1], OTHER_MODE);
    int watches = count_kernel_watches();
    write_file("1", "text");
    write_file("2", "text");
    RUN_UNTIL(OTHER_MODE, trace_contains("|"));
    remove_from(inherited[0], MODE);
    trace_reset();
    EXPECT_EQ(status_of_child(use_child), 0);
    RUN_UNTIL(OTHER_MODE, trace_contains("1 |"));
    EXPECT(count_kernel_watches() >= watches);
    end_watch(inherited[0]);
    end_watch(inherited[1]);
}
