// without_proc.c — what can't be had without /proc is an error, and leaves nothing. `make sandboxed` runs all other tests without it.
#include <sys/stat.h>

#include "../Proof/Sandbox/cover_proc.h"
#include "children.h"

/// In a child: a sanitizer needs /proc when the test ends.
static void need_no_proc(void) {
    if (access("/proc/self/stat", F_OK) == 0 && (cover_proc() < 0 || access("/proc/self/stat", F_OK) == 0))
        LEAVE_OUT("This process may not cover /proc, or its emulator shows another one.");
}

static void watch_without_proc(void) {
    need_no_proc();
    const runloop_watch_config config = {.path = "/"};
    runloop_watch *watch = NULL;
    int before = dup(STDERR_FILENO);
    close(before);
    EXPECT_EQ(runloop_watch_create(&config, &watch), -ENOENT);
    EXPECT(!watch);
    EXPECT_EQ(dup(STDERR_FILENO), before);
}

TEST("without /proc a watch of files is an error") {
    EXPECT_EQ(status_of_child(watch_without_proc), 0);
}

static char path[64];

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static void listen_where_the_path_is_not_complete(void) {
    need_no_proc();
    umask(077);
    refuse(SYS_fchmodat2, ENOSYS);
    EXPECT_EQ(runloop_listen_unix(path, 0666, 0), -ENOENT);
    EXPECT(access(path, F_OK) < 0);
    // The umask takes nothing from these.
    int descriptor = runloop_listen_unix(path, 0600, 0);
    EXPECT(descriptor >= 0);
    close(descriptor);
    unlink(path);
}

TEST("without /proc and fchmodat2 a socket has no permissions above the umask, and none is left that should have") {
    snprintf(path, sizeof path, "/tmp/runloop-without-proc-%d", (int)getpid());
    EXPECT_EQ(status_of_child(listen_where_the_path_is_not_complete), 0);
}

static void start_without_close_range(void) {
    char failed[64];
    const runloop_child_start_config config = {
        .arguments = WORDS("/bin/true"), .failed = failed, .failed_size = sizeof failed};
    runloop_child *child = NULL;
    need_no_proc();
    refuse(SYS_close_range, EPERM);
    EXPECT_EQ(runloop_child_start(&config, &child), -ENOENT);
    EXPECT(!child);
    EXPECT_TEXT(failed, "descriptor 3");
    EXPECT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

TEST("without /proc and close_range no program is started, since it would have the descriptors of others") {
    need_starts();
    EXPECT_EQ(status_of_child(start_without_close_range), 0);
}
