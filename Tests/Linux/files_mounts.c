// files_mounts.c — what is mounted in a tree is unmounted, and something else is mounted there before anybody has looked.
#include "../Proof/Sandbox/cover_proc.h"
#include "files.h"

static void mount_memory(void) {
    REQUIRE(mount("none", "tree/m", "tmpfs", 0, "size=64k") == 0);
}

static void mount_again(void) {
    if (have_own_mounts() || mount("none", "tree/m", "tmpfs", 0, "size=64k"))
        LEAVE_OUT("This process may mount nothing.");
    write_file("tree/m/old", "text");
    keep_mode(MODE);
    runloop_watch *watch = add_watch("tree", RUNLOOP_WATCH_TREE);
    EXPECT_TOLD("");
    REQUIRE(umount("tree/m") == 0);
    // It may look the same: its device has the lowest number that is free.
    mount_memory();
    RUN_UNTIL(MODE, trace_contains("-tree/m/old"));
    trace_reset();
    write_file("tree/m/new", "text");
    RUN_UNTIL(MODE, trace_contains("+tree/m/new"));
    end_watch(watch);
    umount("tree/m");
}

TEST("what is mounted in the place of something else is watched, though it looks the same") {
    enter_folder();
    REQUIRE(mkdir("tree", 0700) == 0 && mkdir("tree/m", 0700) == 0);
    EXPECT_EQ(status_of_child(mount_again), 0);
}
