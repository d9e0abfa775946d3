// files_no_memory.c — each allocation of a watch fails once: nothing leaks, and what was reported, or read again where that is said, is right.
#include "failing_memory.h"
#include "files.h"

TEST("a watch that finds no memory is not made, and leaves nothing") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0 && mkdir("t/a", 0777) == 0 && mkdir("t/b", 0777) == 0);
    runloop_current();
    int before = count_descriptors();
    int result = -ENOMEM;
    long allocation = 1;
    for (; result < 0 && allocation < 1000; allocation++) {
        runloop_watch_config config = {.path = "t", .scope = RUNLOOP_WATCH_TREE, .settle_ns = MS};
        runloop_watch *watch = NULL;
        failing = allocation;
        result = runloop_watch_create(&config, &watch);
        failing = 0;
        EXPECT(result == 0 || result == -ENOMEM);
        if (result == 0)
            end_watch(watch);
        EXPECT_EQ(count_descriptors(), before);
    }
    EXPECT(result == 0 && allocation > 10);
}

static int watch_folder(void) {
    runloop_watch *watch = NULL;
    int result = runloop_watch_create(&(runloop_watch_config){.path = "."}, &watch);
    runloop_source_invalidate(watch);
    runloop_source_release(watch);
    return result;
}

TEST("a watch that finds no memory on a thread that is to be cancelled keeps nobody from making others") {
    enter_folder();
    expect_failures_of_cancelled_threads(watch_folder);
}

static bool is_known[2], is_complete;

static void know(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)watch, (void)info;
    for (size_t i = 0; i < count; i++) {
        const runloop_change *change = &changes[i];
        if (change->kind == RUNLOOP_CHANGE_FAILED) {
            EXPECT_EQ(change->error, -ENOMEM);
            // As a client would, that reads everything again.
            is_known[0] = access("t/d", F_OK) == 0;
            is_known[1] = access("t/d/f", F_OK) == 0;
        } else if (strcmp(change->path, "t/d") == 0) {
            is_known[0] = change->kind == RUNLOOP_CHANGE_CREATED;
        } else if (strcmp(change->path, "t/d/f") == 0) {
            is_known[1] = change->kind == RUNLOOP_CHANGE_CREATED;
        }
        is_complete |= strcmp(change->path, "t/last") == 0 && change->kind != RUNLOOP_CHANGE_FAILED;
    }
}

TEST("a change that finds no memory is reported later, or that it was left out") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0);
    runloop_watch_config config = {.path = "t", .scope = RUNLOOP_WATCH_TREE, .changed = know};
    for (long allocation = 1; allocation < 30; allocation++) {
        runloop_watch *watch = add_watch_with(&config, MODE);
        is_known[0] = is_known[1] = is_complete = false;
        REQUIRE(mkdir("t/d", 0777) == 0);
        write_file("t/d/f", "text");
        failing = allocation;
        poll_mode(MODE);
        failing = 0;
        write_file("t/last", "text");
        RUN_UNTIL(MODE, is_complete);
        EXPECT(is_known[0] && is_known[1]);
        end_watch(watch);
        REQUIRE(unlink("t/d/f") == 0 && rmdir("t/d") == 0 && unlink("t/last") == 0);
    }
}

static int told;

static void count_changes(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)watch, (void)info;
    for (size_t i = 0; i < count; i++)
        EXPECT(changes[i].kind != RUNLOOP_CHANGE_FAILED || changes[i].error == -ENOMEM);
    told += (int)count;
}

TEST("a change that finds no memory is reported without another one, at least that it was left out") {
    enter_folder();
    write_file("f", "text");
    runloop_watch_config config = {.path = "f", .scope = RUNLOOP_WATCH_FILE, .changed = count_changes};
    runloop_watch *watch = add_watch_with(&config, MODE);
    REQUIRE(chmod("f", 0666) == 0);
    RUN_UNTIL(MODE, told == 1); // the loop has its own memory by now
    bool is_over = false;
    for (long allocation = 1; !is_over; allocation++) {
        told = 0;
        failing = allocation;
        // As something new, which takes the most looks.
        REQUIRE(rename("f", "g") == 0 && rename("g", "f") == 0);
        REQUIRE(chmod("f", allocation % 2 ? 0600 : 0666) == 0);
        RUN_UNTIL(MODE, told > 0);
        is_over = failing > 0;
        failing = 0;
        poll_mode(MODE);
        EXPECT(allocation > 1 || !is_over);
    }
    end_watch(watch);
}

TEST("a change that finds no memory for its settle time is reported all the same, without another one") {
    enter_folder();
    write_file("f", "text");
    runloop_watch_config config = {.path = "f", .settle_ns = MS, .changed = count_changes};
    bool is_over = false;
    // In the first round the loop gets what it has once.
    for (long allocation = 0; !is_over; allocation++) {
        // In a mode that has no memory for deadlines yet.
        char mode[32];
        snprintf(mode, sizeof mode, "mode %ld", allocation);
        runloop_watch *watch = add_watch_with(&config, mode);
        poll_mode(mode);
        told = 0;
        failing = allocation;
        REQUIRE(chmod("f", allocation % 2 ? 0600 : 0666) == 0);
        RUN_UNTIL(mode, told > 0);
        is_over = failing > 0;
        failing = 0;
        EXPECT(allocation > 1 || !is_over);
        end_watch(watch);
    }
}

TEST("a watch that finds no memory when it is added gets its changes all the same, in each of its modes") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0);
    runloop *loop = runloop_current();
    REQUIRE(runloop_add_common_mode(loop, MODE) == 0 && runloop_add_common_mode(loop, OTHER_MODE) == 0);
    keep_mode(MODE);
    keep_mode(OTHER_MODE);
    runloop_watch_config config = {.path = "t/f", .changed = count_changes};
    bool is_over = false;
    for (long allocation = 1; !is_over; allocation++) {
        runloop_watch *watch = NULL;
        REQUIRE(runloop_watch_create(&config, &watch) == 0);
        failing = allocation;
        int result = runloop_add_source(loop, watch, RUNLOOP_COMMON_MODES);
        is_over = failing > 0;
        failing = 0;
        EXPECT(result == 0 || result == -ENOMEM);
        const char *modes[] = {OTHER_MODE, MODE};
        for (int i = 0; i < 2 && result == 0; i++) {
            told = 0;
            write_file("t/f", "text");
            RUN_UNTIL(modes[i], told > 0);
        }
        end_watch(watch);
        // It is not asked again and again.
        EXPECT_EQ(runloop_next_fire_date(loop, MODE), RUNLOOP_NEVER);
    }
}

static runloop *_Atomic far_loop;
static _Atomic bool is_over;

static void *have_loop(void *unused) {
    far_loop = runloop_current();
    WAIT_UNTIL(is_over);
    return unused;
}

TEST("a watch that finds no memory when it is added, and that is in another loop as well, is in the mode later") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, have_loop, NULL) == 0);
    WAIT_UNTIL(far_loop);
    runloop *loop = runloop_current();
    keep_mode(MODE);
    runloop_watch_config config = {.path = "t/f", .changed = count_changes};
    bool has_failed = true;
    for (long allocation = 1; has_failed; allocation++) {
        runloop_watch *watch = NULL;
        REQUIRE(runloop_watch_create(&config, &watch) == 0);
        REQUIRE(runloop_add_source(far_loop, watch, OTHER_MODE) == 0);
        failing = allocation;
        int result = runloop_add_source(loop, watch, MODE);
        has_failed = failing == 0;
        failing = 0;
        told = 0;
        write_file("t/f", "text");
        if (result == 0)
            RUN_UNTIL(MODE, told > 0);
        poll_mode(MODE);
        // It is not asked again and again.
        EXPECT_EQ(runloop_next_fire_date(loop, MODE), RUNLOOP_NEVER);
        end_watch(watch);
    }
    is_over = true;
    pthread_join(thread, NULL);
}

TEST("a watch that can't be made for want of memory leaves the kernel none, beside one that is there") {
    enter_folder();
    REQUIRE(mkdir("one", 0700) == 0 && mkdir("other", 0700) == 0 && mkdir("other/inner", 0700) == 0);
    write_file("other/inner/file", "text");
    runloop_watch *watch = add_watch("one", RUNLOOP_WATCH_DIRECTORY), *second = NULL;
    const runloop_watch_config config = {
        .path = "other/inner/file", .scope = RUNLOOP_WATCH_FILE, .changed = trace_changes};
    int before = count_kernel_watches(), result = -ENOMEM;
    for (long allocation = 1; result == -ENOMEM; allocation++) {
        failing = allocation;
        result = runloop_watch_create(&config, &second);
        failing = 0;
        EXPECT(result == 0 || result == -ENOMEM);
        EXPECT(result == 0 || count_kernel_watches() == before);
    }
    EXPECT(count_kernel_watches() > before);
    runloop_source_release(second);
    EXPECT_EQ(count_kernel_watches(), before);
    end_watch(watch);
}

TEST("a name for which there is no memory is reported all the same, or it is said that something was left out") {
    char name[32], told_name[33];
    bool is_over = false;
    enter_folder();
    keep_mode(MODE);
    REQUIRE(mkdir("d", 0700) == 0);
    runloop_watch *watch = add_watch("d", RUNLOOP_WATCH_DIRECTORY);
    EXPECT_TOLD("");
    for (long allocation = 1; !is_over; allocation++) {
        snprintf(name, sizeof name, "d/file-%ld", allocation);
        snprintf(told_name, sizeof told_name, "+%s", name);
        // Of which the kernel has one notification.
        REQUIRE(symlink("target", name) == 0);
        failing = allocation;
        poll_mode(MODE);
        is_over = failing > 0;
        failing = 0;
        RUN_UNTIL(MODE, trace_contains(told_name) || trace_contains("failed") || trace_contains("overflow"));
        trace_reset();
    }
    end_watch(watch);
}
