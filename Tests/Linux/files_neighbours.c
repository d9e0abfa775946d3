// files_neighbours.c — what happens to other files beside the way to a watched path wakes the loop only if the kernel can't tell it apart.
#include "files.h"

static void write_and_change(const char *path) {
    write_file(path, "text");
    write_file(path, "more");
    REQUIRE(chmod(path, 0600) == 0);
}

/// Everything that may happen to a file and a directory.
static void be_a_neighbour(void) {
    write_and_change("public/neighbour");
    REQUIRE(rename("public/neighbour", "public/other") == 0 && link("public/other", "public/third") == 0);
    REQUIRE(unlink("public/other") == 0 && unlink("public/third") == 0);
    REQUIRE(mkdir("public/d", 0777) == 0 && rename("public/d", "public/e") == 0 && rmdir("public/e") == 0);
}

static void make_folders(void) {
    enter_folder();
    keep_mode(MODE);
    REQUIRE(mkdir("public", 0777) == 0 && chmod("public", 01777) == 0 && mkdir("public/mine", 0700) == 0);
    write_file("public/mine/file", "text");
    write_file("public/file", "text");
    REQUIRE(symlink("mine", "public/link") == 0);
}

static bool is_woken(void) {
    return runloop_run_in_mode(MODE, 0, true) == RUNLOOP_RESULT_HANDLED_SOURCE;
}

static void serve_all(void) {
    while (is_woken())
        continue;
}

TEST("a file that is there is watched without being woken by its neighbours, or those of its directories") {
    make_folders();
    runloop_watch *watches[] = {add_watch("public/mine/file", RUNLOOP_WATCH_FILE),
                                add_watch("public/file", RUNLOOP_WATCH_FILE),
                                add_watch("public/link/file", RUNLOOP_WATCH_FILE)};
    // While it looked for its way, it has heard of what others did in the folders above.
    serve_all();
    be_a_neighbour();
    EXPECT(!is_woken());
    write_file("public/mine/file", "more");
    RUN_UNTIL(MODE, trace_contains("*public/mine/file") && trace_contains("*public/link/file"));
    serve_all();
    be_a_neighbour();
    EXPECT(!is_woken());
    for (int i = 0; i < 3; i++)
        end_watch(watches[i]);
}

TEST("of a path that is missing, only what comes into the last directory that there is wakes the loop") {
    make_folders();
    runloop_watch *watch = add_watch("public/mine/missing/file", RUNLOOP_WATCH_FILE);
    write_file("public/neighbour", "text");
    REQUIRE(chmod("public/mine", 0755) == 0);
    serve_all();
    write_file("public/neighbour", "more");
    write_file("public/mine/file", "more");
    EXPECT(!is_woken());
    REQUIRE(mkdir("public/mine/missing", 0777) == 0);
    write_file("public/mine/missing/file", "text");
    RUN_UNTIL(MODE, trace_contains("+public/mine/missing/file"));
    serve_all();
    be_a_neighbour();
    EXPECT(!is_woken());
    end_watch(watch);
}

TEST("a directory that somebody has open is noticed when it is removed, and made again") {
    make_folders();
    REQUIRE(unlink("public/mine/file") == 0);
    runloop_watch *watch = add_watch("public/mine/file", RUNLOOP_WATCH_FILE);
    for (int i = 0; i < 3; i++) {
        int open_one = open("public/mine", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        REQUIRE(rmdir("public/mine") == 0);
        if (i != 1)
            poll_mode(MODE);
        if (i < 2) {
            REQUIRE(mkdir("public/mine", 0700) == 0);
        } else {
            REQUIRE(mkdir("public/new", 0700) == 0 && rename("public/new", "public/mine") == 0);
        }
        poll_mode(MODE);
        write_file("public/mine/file", "text");
        EXPECT_TOLD("+public/mine/file |");
        REQUIRE(unlink("public/mine/file") == 0);
        EXPECT_TOLD("-public/mine/file |");
        close(open_one);
    }
    end_watch(watch);
}

TEST("what has the name is followed, however it is replaced") {
    make_folders();
    runloop_watch *watch = add_watch("public/file", RUNLOOP_WATCH_FILE);
    int open_one = open("public/file", O_RDONLY | O_CLOEXEC);
    REQUIRE(unlink("public/file") == 0);
    EXPECT_TOLD("-public/file |");
    close(open_one);
    write_file("public/file", "new");
    EXPECT_TOLD("+public/file |");
    write_file("public/other", "other");
    open_one = open("public/file", O_RDONLY | O_CLOEXEC);
    REQUIRE(rename("public/other", "public/file") == 0);
    EXPECT_TOLD("+public/file |");
    close(open_one);
    write_file("public/file", "more");
    EXPECT_TOLD("*public/file |");
    REQUIRE(rename("public/file", "public/away") == 0);
    EXPECT_TOLD("-public/file |");
    write_file("public/away", "more");
    EXPECT_TOLD("");
    REQUIRE(link("public/away", "public/file") == 0);
    EXPECT_TOLD("+public/file |");
    write_file("public/file", "more");
    EXPECT_TOLD("*public/file |");
    end_watch(watch);
}
