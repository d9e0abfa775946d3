// files_refused.c — an entry of a tree that the kernel does not want to describe: a dead mount's, a sandbox's. Link with
// -Wl,--wrap=fstatat,--wrap=fstatat64.
#include "files.h"

/// How the entries begin that can't be looked at, and the error; how often that is still so.
static const char *refused_name = "refused";
static int refusal, refusals;

static bool is_refused(const char *name) {
    if (!refusal || refusals == 0 || strncmp(name, refused_name, strlen(refused_name)) != 0)
        return false;
    refusals--;
    errno = refusal;
    return true;
}

// The name that the library's call has depends on the C library.
int __real_fstatat(int directory, const char *name, struct stat *status, int flags);
int __wrap_fstatat(int directory, const char *name, struct stat *status, int flags);

int __wrap_fstatat(int directory, const char *name, struct stat *status, int flags) {
    return is_refused(name) ? -1 : __real_fstatat(directory, name, status, flags);
}

#ifdef __GLIBC__
int __real_fstatat64(int directory, const char *name, struct stat64 *status, int flags);
int __wrap_fstatat64(int directory, const char *name, struct stat64 *status, int flags);

int __wrap_fstatat64(int directory, const char *name, struct stat64 *status, int flags) {
    return is_refused(name) ? -1 : __real_fstatat64(directory, name, status, flags);
}
#endif

static int32_t told_error;

static void trace_errors(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    for (size_t i = 0; i < count; i++)
        told_error = changes[i].error ? changes[i].error : told_error;
    trace_changes(watch, changes, count, info);
}

static runloop_watch *add_tree(void) {
    return add_watch_with(&(runloop_watch_config){.path = "tree", .scope = RUNLOOP_WATCH_TREE, .changed = trace_errors},
                          MODE);
}

static void make_tree(void) {
    enter_folder();
    keep_mode(MODE);
    REQUIRE(mkdir("tree", 0700) == 0 && mkdir("tree/refused", 0700) == 0);
    write_file("tree/refused/file", "text");
}

static void refuse(int error, int times) {
    told_error = 0;
    refusal = error;
    refusals = times;
}

TEST("an entry that can't be looked at when its tree is read is reported with the reason, and the others are watched") {
    make_tree();
    write_file("tree/other", "text");
    refuse(EIO, 1000);
    runloop_watch *watch = add_tree();
    EXPECT_TOLD("failedtree/refused |");
    EXPECT_EQ(told_error, -EIO);
    write_file("tree/other", "more");
    EXPECT_TOLD("*tree/other |");
    end_watch(watch);
}

TEST("an entry that can't be looked at for a moment is watched as the others are, with what is in it") {
    make_tree();
    refuse(EIO, 1);
    runloop_watch *watch = add_tree();
    EXPECT_EQ(refusals, 0);
    EXPECT_TOLD("");
    write_file("tree/refused/file", "more");
    EXPECT_TOLD("*tree/refused/file |");
    end_watch(watch);
}

TEST("an entry that can't be looked at when its directory comes back is reported, and taken in when it can be") {
    make_tree();
    runloop_watch *watch = add_tree();
    EXPECT_TOLD("");
    // What comes back is read anew.
    REQUIRE(rename("tree", "former") == 0);
    EXPECT_TOLD("-tree/refused/file -tree/refused/ -tree/ |");
    REQUIRE(rename("former", "tree") == 0);
    refuse(EACCES, 1000);
    EXPECT_TOLD("+tree/ failedtree/refused |");
    EXPECT_EQ(told_error, -EACCES);
    refuse(0, 0);
    REQUIRE(chmod("tree/refused", 0755) == 0);
    EXPECT_TOLD("+tree/refused/ +tree/refused/file |");
    end_watch(watch);
}

TEST("an entry for which memory is short is reported, and looked at again with the next change") {
    make_tree();
    runloop_watch *watch = add_tree();
    EXPECT_TOLD("");
    REQUIRE(rename("tree", "former") == 0);
    EXPECT_TOLD("-tree/refused/file -tree/refused/ -tree/ |");
    REQUIRE(rename("former", "tree") == 0);
    refuse(ENOMEM, 2);
    EXPECT_TOLD("+tree/ failedtree/refused |");
    EXPECT_EQ(told_error, -ENOMEM);
    write_file("tree/other", "text");
    poll_mode(MODE);
    EXPECT(trace_contains("+tree/refused/") && trace_contains("+tree/refused/file"));
    end_watch(watch);
}

TEST("entries for which memory is short do not keep the loop for ever") {
    enum { MANY = 100000 };
    make_tree();
    REQUIRE(mkdir("tree/refused-too", 0700) == 0);
    runloop_watch *watch = add_tree();
    EXPECT_TOLD("");
    REQUIRE(rename("tree", "former") == 0);
    poll_mode(MODE);
    REQUIRE(rename("former", "tree") == 0);
    trace_reset();
    refuse(ENOMEM, MANY);
    poll_mode(MODE);
    EXPECT(trace_contains("failedtree/refused-too"));
    // Each was tried when the directory was read, by itself, and perhaps once more.
    EXPECT(MANY - refusals < 10);
    end_watch(watch);
}
