// files_links.c — chains of symbolic links, as long as the kernel follows them.
#include "files.h"

TEST("the end of a chain of forty links is watched, also before it is there") {
    enum { LINKS = 40 };
    char name[32], target[32] = "target/file";
    enter_folder();
    keep_mode(MODE);
    REQUIRE(mkdir("target", 0700) == 0);
    for (int i = 1; i <= LINKS; i++) {
        snprintf(name, sizeof name, "link-%d", i);
        REQUIRE(symlink(target, name) == 0);
        snprintf(target, sizeof target, "%s", name);
    }
    runloop_watch *watch = add_watch_with(
        &(runloop_watch_config){
            .path = name, .scope = RUNLOOP_WATCH_FILE, .follows_link = true, .changed = trace_changes},
        MODE);
    EXPECT_TOLD("");
    write_file("target/file", "text");
    RUN_UNTIL(MODE, trace_contains("+link-40"));
    end_watch(watch);
}

TEST("a link at the end that is not to be followed is what is watched") {
    enter_folder();
    keep_mode(MODE);
    REQUIRE(mkdir("target", 0700) == 0 && symlink("target/missing", "link") == 0);
    runloop_watch *watch = add_watch("link", RUNLOOP_WATCH_FILE);
    while (runloop_run_in_mode(MODE, 0, true) == RUNLOOP_RESULT_HANDLED_SOURCE)
        continue;
    // It leads there, which is nothing to it, and does not wake the loop.
    write_file("target/missing", "text");
    EXPECT_EQ(runloop_run_in_mode(MODE, 0, true), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
    REQUIRE(unlink("link") == 0);
    RUN_UNTIL(MODE, trace_contains("-link"));
    end_watch(watch);
}

static void watch_behind(void) {
    char path[96];
    // Its owner can take the right to read it from himself, unless he may read all.
    if (geteuid() == 0)
        REQUIRE(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
    snprintf(path, sizeof path, "%s/open/file", folder);
    keep_mode(MODE);
    runloop_watch *watch = add_watch(path, RUNLOOP_WATCH_FILE);
    EXPECT_TOLD("");
    write_file(path, "more");
    RUN_UNTIL(MODE, trace_contains("*"));
    end_watch(watch);
}

TEST("a directory on the way that may be passed and not read keeps nobody from watching what is behind it") {
    enter_folder();
    REQUIRE(mkdir("open", 0777) == 0 && chmod("open", 0777) == 0);
    write_file("open/file", "text");
    REQUIRE(chmod("open/file", 0666) == 0 && chmod(folder, 0111) == 0);
    EXPECT_EQ(status_of_child(watch_behind), 0);
    REQUIRE(chmod(folder, 0700) == 0);
}
