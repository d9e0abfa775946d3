// files_moves.c — moves to names of which something was noticed before, what an overflow hides, and limits of watches.
#include <limits.h>

#include "files.h"
#include "shown_clock.h"

static runloop_watch *watch_tree(void) {
    enter_folder();
    keep_mode(MODE);
    REQUIRE(mkdir("tree", 0700) == 0);
    write_file("tree/a", "a");
    write_file("tree/b", "b");
    runloop_watch *watch = add_watch("tree", RUNLOOP_WATCH_TREE);
    EXPECT_TOLD("");
    return watch;
}

TEST("a move to a name that was removed before is a move") {
    runloop_watch *watch = watch_tree();
    REQUIRE(unlink("tree/b") == 0 && rename("tree/a", "tree/b") == 0);
    poll_mode(MODE);
    EXPECT(trace_contains("tree/a>tree/b") && !trace_contains("-tree/a"));
    end_watch(watch);
}

TEST("a move to a name that came and went before is a move, and no creation") {
    runloop_watch *watch = watch_tree();
    write_file("tree/c", "c");
    REQUIRE(unlink("tree/c") == 0 && rename("tree/a", "tree/c") == 0);
    poll_mode(MODE);
    EXPECT(trace_contains("tree/a>tree/c") && !trace_contains("+tree/c") && !trace_contains("-tree/a"));
    end_watch(watch);
}

/// When it is looked at, the watch still has the directory at that name, and so what it would move below what it would remove.
TEST("a name that a directory left, and that one of its entries took, is reported as the disk has it") {
    runloop_watch *watch = watch_tree();
    REQUIRE(mkdir("tree/d", 0700) == 0);
    write_file("tree/d/e", "e");
    RUN_UNTIL(MODE, trace_contains("+tree/d/e"));
    trace_reset();
    REQUIRE(rename("tree/d", "tree/x") == 0 && rename("tree/x/e", "tree/d") == 0 && rename("tree/x", "tree/y") == 0);
    EXPECT_TOLD("-tree/d/e -tree/d/ +tree/d +tree/y/ |");
    end_watch(watch);
}

static long most_queued(void) {
    FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
    long most = 0;
    if (!file || fscanf(file, "%ld", &most) != 1 || most > 200000)
        LEAVE_OUT("The queue of notifications has no known end.");
    fclose(file);
    return most;
}

TEST("the way to a path is looked for anew after an overflow that hid its change") {
    runloop_watch *noise = watch_tree();
    long most = most_queued();
    REQUIRE(mkdir("way", 0700) == 0);
    write_file("way/file", "text");
    runloop_watch *watch = add_watch("way/file", RUNLOOP_WATCH_FILE);
    poll_mode(MODE);
    for (long i = 0; i <= most / 2; i++)
        REQUIRE(chmod("tree/a", i % 2 ? 0600 : 0644) == 0 && chmod("tree/b", i % 2 ? 0600 : 0644) == 0);
    REQUIRE(rename("way", "gone") == 0 && mkdir("way", 0700) == 0);
    write_file("way/file", "new");
    // Of each watch of the instance.
    RUN_UNTIL(MODE, trace_contains("overflowtree") && trace_contains("overflowway/file"));
    poll_mode(MODE);
    trace_reset();
    REQUIRE(unlink("way/file") == 0);
    RUN_UNTIL(MODE, trace_contains("-way/file"));
    trace_reset();
    write_file("way/file", "newer");
    RUN_UNTIL(MODE, trace_contains("+way/file"));
    end_watch(watch);
    end_watch(noise);
}

TEST("a path is as long as the kernel takes, and not longer") {
    static char path[PATH_MAX + 1];
    runloop_watch *watch = NULL;
    need_proc();
    memset(path, '/', PATH_MAX);
    memcpy(path + PATH_MAX - 3, "tmp", 3);
    const runloop_watch_config config = {.path = path};
    EXPECT_EQ(strlen(path), PATH_MAX);
    EXPECT_EQ(runloop_watch_create(&config, &watch), -ENAMETOOLONG);
    // From the root, it has one more.
    memmove(path, path + 2, PATH_MAX - 1);
    EXPECT_EQ(runloop_watch_create(&config, &watch), 0);
    runloop_source_release(watch);
}

TEST("changes that go on are reported after ten times the settle time") {
    enum { MOST = 10 };
    enter_folder();
    write_file("file", "text");
    use_shown_clock();
    runloop_watch *watch =
        add_watch_with(&(runloop_watch_config){.path = "file", .settle_ns = LIMIT, .changed = trace_changes}, MODE);
    poll_mode(MODE);
    // Each comes shortly before the one before has settled.
    for (shown_ns = 0; shown_ns < MOST * LIMIT; shown_ns += LIMIT - 1) {
        write_file("file", "more");
        poll_mode(MODE);
        poll_mode(MODE);
        EXPECT(!trace_contains("|"));
    }
    EXPECT(shown_ns < (MOST + 1) * LIMIT);
    write_file("file", "last");
    LOOK_UNTIL(trace_contains("*file"));
    end_watch(watch);
}
