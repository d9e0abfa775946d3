// files.c — watches of files, directories and trees: what is reported, settle times, limits, ends.
#include <sched.h>
#include <sys/mount.h>

#include "files.h"

//===-- a file -------------------------------------------------------------------------------------------------------===//

TEST("a file is reported as created, modified, changed and removed, and created again") {
    enter_folder();
    runloop_watch *watch = add_watch("log", RUNLOOP_WATCH_FILE);
    EXPECT_TEXT(runloop_watch_get_path(watch), "log");
    write_file("other", "text");
    EXPECT_TOLD("");
    write_file("log", "text");
    EXPECT_TOLD("+log |");
    write_file("log", "more");
    EXPECT_TOLD("*log |");
    REQUIRE(chmod("log", 0600) == 0);
    EXPECT_TOLD("@log |");
    REQUIRE(unlink("log") == 0);
    EXPECT_TOLD("-log |");
    write_file("log", "text");
    EXPECT_TOLD("+log |");
    write_file("log", "more");
    EXPECT_TOLD("*log |");
    end_watch(watch);
}

TEST("a path may come to be from its first directory on, and its directories may be replaced") {
    enter_folder();
    runloop_watch *watch = add_watch("a/../a/b/file", RUNLOOP_WATCH_FILE);
    REQUIRE(mkdir("a", 0777) == 0 && mkdir("a/b", 0777) == 0);
    EXPECT_TOLD("");
    write_file("a/b/file", "text");
    EXPECT_TOLD("+a/../a/b/file |");
    REQUIRE(rename("a", "c") == 0);
    EXPECT_TOLD("-a/../a/b/file |");
    write_file("c/b/file", "more");
    REQUIRE(mkdir("a", 0777) == 0 && mkdir("a/b", 0777) == 0);
    write_file("a/b/file", "text");
    EXPECT_TOLD("+a/../a/b/file |");
    end_watch(watch);
}

TEST("a link is followed if that is asked for, and replacing any link on the way is noticed") {
    enter_folder();
    REQUIRE(mkdir("1", 0777) == 0 && mkdir("2", 0777) == 0 && symlink("1", "data") == 0 &&
            symlink("data/file", "file") == 0);
    write_file("1/file", "text");
    write_file("2/file", "text");
    runloop_watch *link = add_watch("file", RUNLOOP_WATCH_FILE);
    runloop_watch_config config = {
        .path = "file", .scope = RUNLOOP_WATCH_FILE, .follows_link = true, .changed = trace_changes};
    runloop_watch *target = add_watch_with(&config, MODE);
    write_file("1/file", "more");
    EXPECT_TOLD_IN(MODE, "*file |");
    // As a volume of Kubernetes is replaced.
    REQUIRE(symlink("2", "data.new") == 0 && rename("data.new", "data") == 0);
    EXPECT_TOLD_IN(MODE, "+file |");
    write_file("2/file", "more");
    EXPECT_TOLD_IN(MODE, "*file |");
    REQUIRE(unlink("file") == 0);
    RUN_UNTIL(MODE, trace_contains("-file | -file"));
    end_watch(link);
    end_watch(target);
}

//===-- directories and trees ----------------------------------------------------------------------------------------===//

TEST("a directory reports its entries, and not what is in them") {
    enter_folder();
    REQUIRE(mkdir("d", 0777) == 0);
    runloop_watch *watch = add_watch("d/", RUNLOOP_WATCH_DIRECTORY);
    write_file("d/a", "text");
    EXPECT_TOLD("+d/a |");
    REQUIRE(rename("d/a", "d/b") == 0);
    EXPECT_TOLD("d/a>d/b |");
    REQUIRE(mkdir("d/e", 0777) == 0);
    EXPECT_TOLD("+d/e/ |");
    write_file("d/e/a", "text");
    EXPECT_TOLD("");
    REQUIRE(rename("d/b", "b") == 0);
    EXPECT_TOLD("-d/b |");
    REQUIRE(rename("b", "d/b") == 0);
    EXPECT_TOLD("+d/b |");
    REQUIRE(rename("d", "moved") == 0);
    EXPECT_TOLD("-d/b -d/e/ -d// |");
    end_watch(watch);
}

TEST("in a tree a directory that is new is reported with everything in it") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0 && mkdir("out", 0777) == 0 && mkdir("out/x", 0777) == 0);
    write_file("out/x/1", "text");
    runloop_watch *watch = add_watch("t", RUNLOOP_WATCH_TREE);
    int watches = count_kernel_watches();
    REQUIRE(rename("out", "t/in") == 0);
    EXPECT_TOLD("+t/in/ +t/in/x/ +t/in/x/1 |");
    write_file("t/in/x/2", "text");
    EXPECT_TOLD("+t/in/x/2 |");
    REQUIRE(unlink("t/in/x/2") == 0);
    EXPECT_TOLD("-t/in/x/2 |");
    REQUIRE(rename("t/in/x", "t/x") == 0);
    EXPECT_TOLD("t/in/x>t/x |");
    write_file("t/x/1", "more");
    EXPECT_TOLD("*t/x/1 |");
    REQUIRE(rename("t/x", "x") == 0);
    EXPECT_TOLD("-t/x/1 -t/x/ |");
    // What has left the tree is not watched any more.
    EXPECT_EQ(count_kernel_watches(), watches + 1);
    write_file("x/1", "more");
    EXPECT_TOLD("");
    REQUIRE(symlink("../x", "t/link") == 0);
    EXPECT_TOLD("+t/link |");
    write_file("x/1", "more");
    EXPECT_TOLD("");
    end_watch(watch);
}

TEST("a directory that is new in one that was moved, and replaced by another, is not taken for that of the other") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0 && mkdir("t/d", 0777) == 0);
    runloop_watch *watch = add_watch("t", RUNLOOP_WATCH_TREE);
    REQUIRE(mkdir("t/d/y", 0777) == 0);
    write_file("t/d/y/moved", "text");
    REQUIRE(rename("t/d", "t/e") == 0 && mkdir("t/d", 0777) == 0 && mkdir("t/d/y", 0777) == 0);
    write_file("t/d/y/new", "text");
    poll_mode(MODE);
    EXPECT(trace_contains("t/d>t/e ") && trace_contains("+t/e/y/moved ") && trace_contains("+t/d/y/new "));
    EXPECT(!trace_contains("t/e/y/new") && !trace_contains("t/d/y/moved"));
    trace_reset();
    write_file("t/e/y/moved", "more");
    write_file("t/d/y/new", "more");
    EXPECT_TOLD("*t/e/y/moved *t/d/y/new |");
    end_watch(watch);
}

TEST("names may be as long as they can be, and paths longer") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0);
    char name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    runloop_watch *watch = add_watch("t", RUNLOOP_WATCH_TREE);
    // 5,120 bytes, where a call takes 4,096.
    REQUIRE(chdir("t") == 0);
    for (int depth = 0; depth < 20; depth++)
        REQUIRE(mkdir(name, 0777) == 0 && chdir(name) == 0);
    RUN_UNTIL(MODE, poll_mode(MODE) == RUNLOOP_RESULT_TIMED_OUT);
    trace_reset();
    write_file("deep", "text");
    handle_one(MODE);
    EXPECT(trace_contains("+t/nnn"));
    REQUIRE(unlink("deep") == 0);
    for (int depth = 0; depth < 20; depth++)
        REQUIRE(chdir("..") == 0 && rmdir(name) == 0);
    end_watch(watch);
}

//===-- settle times -------------------------------------------------------------------------------------------------===//

TEST("with a settle time a burst is one call, not before it is quiet for so long, of what there is then") {
    enter_folder();
    runloop_watch_config config = {
        .path = "t", .scope = RUNLOOP_WATCH_TREE, .settle_ns = 50 * MS, .changed = trace_changes};
    runloop_watch *watch = add_watch_with(&config, MODE);
    REQUIRE(mkdir("t", 0777) == 0);
    for (int i = 0; i < 20; i++) {
        write_file("t/a", "text");
        write_file("t/b", "text");
        REQUIRE(rename("t/b", "t/c") == 0);
    }
    int64_t last = runloop_now_ns();
    RUN_UNTIL(MODE, trace_contains("|"));
    EXPECT(runloop_now_ns() >= last + 50 * MS);
    EXPECT(trace_contains("+t/a") && trace_contains("+t/c") && !trace_contains("t/b"));
    trace_reset();
    run_for(MODE, 60 * MS);
    EXPECT_TRACE("");
    end_watch(watch);
}

TEST("what never becomes quiet is reported after ten settle times") {
    enter_folder();
    runloop_watch_config config = {
        .path = "f", .scope = RUNLOOP_WATCH_FILE, .settle_ns = 20 * MS, .changed = trace_changes};
    runloop_watch *watch = add_watch_with(&config, MODE);
    int64_t begin = runloop_now_ns();
    while (!trace_contains("|") && runloop_now_ns() < begin + 30 * SECOND) {
        write_file("f", "text");
        poll_mode(MODE);
    }
    EXPECT_TRACE("+f |");
    end_watch(watch);
}

//===-- modes, ends, threads, forks ----------------------------------------------------------------------------------===//

TEST("changes wait for a mode of the source, with a settle time too") {
    enter_folder();
    runloop_watch_config config = {
        .path = "f", .scope = RUNLOOP_WATCH_FILE, .settle_ns = 5 * MS, .changed = trace_changes};
    runloop_watch *watch = add_watch_with(&config, MODE);
    keep_mode(OTHER_MODE);
    write_file("f", "text");
    poll_mode(MODE);
    run_for(OTHER_MODE, 20 * MS);
    EXPECT_TRACE("");
    runloop_remove_source(runloop_current(), watch, MODE);
    REQUIRE(runloop_add_source(runloop_current(), watch, OTHER_MODE) == 0);
    EXPECT_TOLD_IN(OTHER_MODE, "+f |");
    end_watch(watch);
}

static void end_in_call(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    end_watch(watch);
    // Everything is still there during the call.
    trace_changes(watch, changes, count, info);
}

static void trace_release(void *info) {
    trace(info);
}

TEST("a watch that ends in its own call is not called again, and leaves no descriptor") {
    enter_folder();
    keep_mode(MODE);
    // A settle time is waited for as a timer is, for which the loop has a descriptor from then on.
    int without = count_descriptors();
    runloop_timer *timer = add_timer(MODE, runloop_now_ns() + 3600 * SECOND, 0, NULL, NULL);
    RUN_UNTIL(MODE, count_descriptors() > without);
    runloop_timer_invalidate(timer);
    int before = count_descriptors();
    for (int i = 0; i < 2; i++) {
        runloop_watch_config config = {.context = {.info = "freed", .release = trace_release},
                                       .path = ".",
                                       .scope = RUNLOOP_WATCH_TREE,
                                       .settle_ns = i * MS,
                                       .changed = end_in_call};
        add_watch_with(&config, MODE);
        write_file("f", "text");
        RUN_UNTIL(MODE, trace_contains("|"));
        write_file("f", "more");
        run_for(MODE, 5 * MS);
        EXPECT_TRACE(i == 0 ? "+./f | freed" : "*./f | freed");
    }
    EXPECT_EQ(count_descriptors(), before);
}

static _Atomic int shared_count;

static void count_created(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)watch, (void)info;
    for (size_t i = 0; i < count; i++)
        shared_count += changes[i].kind == RUNLOOP_CHANGE_CREATED;
}

TEST("a watch in two loops reports each change in one of them") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0);
    runloop_watch_config config = {.path = "t", .scope = RUNLOOP_WATCH_TREE, .changed = count_created};
    REQUIRE(runloop_watch_create(&config, &shared) == 0);
    struct worker workers[2];
    start_sharing(workers);
    for (int i = 0; i < 500; i++) {
        char path[32];
        snprintf(path, sizeof path, "t/%d", i);
        REQUIRE(mkdir(path, 0777) == 0);
    }
    WAIT_UNTIL(shared_count >= 500);
    stop_sharing(workers);
    EXPECT_EQ(shared_count, 500);
    end_watch(shared);
}

static runloop_watch *inherited;

static void use_inherited(void) {
    write_file("from_child", "text");
    EXPECT_EQ(runloop_add_source(runloop_current(), inherited, MODE), 0);
    poll_mode(MODE);
    EXPECT_TRACE("");
    end_watch(inherited);
    runloop_watch *own = add_watch(".", RUNLOOP_WATCH_TREE);
    write_file("from_child", "more");
    handle_one(MODE);
    EXPECT_TRACE("*./from_child |");
    end_watch(own);
}

TEST("in a forked child an inherited watch is not called, and ends without effect on the parent's") {
    enter_folder();
    inherited = add_watch(".", RUNLOOP_WATCH_TREE);
    EXPECT_EQ(status_of_child(use_inherited), 0);
    EXPECT_TOLD("+./from_child |");
    write_file("f", "text");
    EXPECT_TOLD("+./f |");
    end_watch(inherited);
}

//===-- limits and errors --------------------------------------------------------------------------------------------===//

static int create(const char *path, runloop_watch_scope scope) {
    runloop_watch_config config = {.path = path, .scope = scope};
    runloop_watch *watch = NULL;
    int result = runloop_watch_create(&config, &watch);
    EXPECT_EQ(result == 0, watch != NULL);
    if (watch)
        runloop_source_release(watch);
    return result;
}

TEST("bad input is refused") {
    need_proc();
    runloop_watch *watch;
    runloop_watch_config config = {.path = ".", .settle_ns = -1};
    char *path = malloc(5000);
    memset(path, 'n', 4999);
    path[4999] = 0;
    EXPECT_EQ(runloop_watch_create(&config, &watch), -EINVAL);
    EXPECT_EQ(runloop_watch_create(NULL, &watch), -EINVAL);
    EXPECT_EQ(create(NULL, RUNLOOP_WATCH_FILE), -EINVAL);
    EXPECT_EQ(create("", RUNLOOP_WATCH_FILE), -EINVAL);
    EXPECT_EQ(create(".", (runloop_watch_scope)3), -EINVAL);
    EXPECT_EQ(create(path, RUNLOOP_WATCH_FILE), -ENAMETOOLONG);
    path[300] = 0;
    EXPECT_EQ(create(path, RUNLOOP_WATCH_FILE), -ENAMETOOLONG);
    EXPECT_EQ(create("/", RUNLOOP_WATCH_DIRECTORY), 0);
    REQUIRE(mkdtemp(strcpy(path, "/tmp/runloop-files-XXXXXX")) && chdir(path) == 0 && rmdir(path) == 0);
    EXPECT_EQ(create(".", RUNLOOP_WATCH_FILE), -ENOENT);
    free(path);
}

TEST("without descriptors there is no watch, with none left over there is one") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0);
    use_up_descriptors(0);
    EXPECT_EQ(create("t", RUNLOOP_WATCH_TREE), -EMFILE);
    give_back_descriptors();
    EXPECT(strstr(runloop_watch_describe_limit(-EMFILE), "fs.inotify.max_user_instances"));
    EXPECT(strstr(runloop_watch_describe_limit(-ENOSPC), "fs.inotify.max_user_watches"));
    EXPECT(!runloop_watch_describe_limit(-ENOENT) && !runloop_watch_describe_limit(0));
    EXPECT_EQ(create("t", RUNLOOP_WATCH_TREE), 0);
}

TEST("what can't be looked at without descriptors is reported as failed, and found with the next change of any") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0);
    runloop_watch *watch = add_watch("t", RUNLOOP_WATCH_TREE);
    REQUIRE(mkdir("t/d", 0777) == 0);
    use_up_descriptors(0);
    handle_one(MODE);
    EXPECT_TRACE("failedt/d |");
    give_back_descriptors();
    write_file("t/f", "text");
    EXPECT_TOLD("+t/d/ +t/f |");
    end_watch(watch);
}

/// A limit of this process alone, in a user namespace. False: not allowed here.
static bool set_limit(const char *name, const char *value) {
    if (unshare(CLONE_NEWUSER) < 0)
        return false;
    int descriptor = open(name, O_WRONLY | O_CLOEXEC);
    bool is_set = descriptor >= 0 && write(descriptor, value, strlen(value)) > 0;
    close(descriptor);
    return is_set;
}

TEST("the user's limit of watches is an error at the creation, and reported later") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0 && mkdir("t/1", 0777) == 0);
    // For "/", perhaps "dev", the folder of the folder, the folder, t and 1.
    if (!set_limit("/proc/sys/user/max_inotify_watches", strncmp(folder, "/dev/", 5) == 0 ? "6" : "5"))
        LEAVE_OUT("This process may not make a user namespace.");
    runloop_watch *watch = add_watch("t/1/2", RUNLOOP_WATCH_TREE);
    REQUIRE(mkdir("t/1/2", 0777) == 0);
    EXPECT_TOLD("+t/1/2/ failedt/1/2/ |");
    end_watch(watch);
    EXPECT_EQ(create("t/1/2", RUNLOOP_WATCH_TREE), -ENOSPC);
    EXPECT_EQ(create("t/1", RUNLOOP_WATCH_TREE), -ENOSPC);
    EXPECT_EQ(create("t/1", RUNLOOP_WATCH_DIRECTORY), 0);
}

static void *create_in_thread(void *result) {
    *(int *)result = create("t", RUNLOOP_WATCH_DIRECTORY);
    return NULL;
}

TEST("where the user has one instance, a thread has any number of watches, and another thread none") {
    enum { COUNT = 300 };
    static runloop_watch *watches[COUNT];
    int result = 0;
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0);
    if (!set_limit("/proc/sys/user/max_inotify_instances", "1"))
        LEAVE_OUT("This process may not make a user namespace.");
    for (int i = 0; i < COUNT; i++)
        watches[i] = add_watch("t", RUNLOOP_WATCH_DIRECTORY);
    on_new_thread(create_in_thread, &result);
    EXPECT_EQ(result, -EMFILE);
    // A host has the loop's descriptor in a set, too.
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    EXPECT_EQ(runloop_hosted_end(), 0);
    trace_reset();
    write_file("t/f", "text");
    for (int told = 0; told < COUNT;) {
        handle_one(MODE);
        told += trace_contains("+t/f");
        trace_reset();
    }
    for (int i = 0; i < COUNT; i++)
        end_watch(watches[i]);
    on_new_thread(create_in_thread, &result);
    EXPECT_EQ(result, 0);
}

TEST("a directory that can't be read is reported as failed, and with its permission what is in it") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0 && mkdir("t/d", 0777) == 0);
    write_file("t/d/f", "text");
    REQUIRE(chmod("t/d", 0) == 0 && chmod(".", 0777) == 0);
    if (getuid() == 0)
        REQUIRE(setegid(65534) == 0 && chown("t", 65534, 65534) == 0 && chown("t/d", 65534, 65534) == 0 &&
                seteuid(65534) == 0);
    runloop_watch *watch = add_watch("t", RUNLOOP_WATCH_TREE);
    EXPECT_TOLD("failedt/d/ |");
    REQUIRE(chmod("t/d", 0755) == 0);
    EXPECT_TOLD("@t/d/ +t/d/f |");
    REQUIRE(chmod("t/d", 0) == 0);
    EXPECT_EQ(create("t/d", RUNLOOP_WATCH_DIRECTORY), -EACCES);
    REQUIRE(chmod("t/d", 0755) == 0);
    end_watch(watch);
    REQUIRE(getuid() != 0 || seteuid(0) == 0);
}

TEST("what could not be watched at first is reported at once, also if something more is noticed before that, which "
     "settles") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0 && mkdir("t/d", 0) == 0 && chmod(".", 0777) == 0);
    if (getuid() == 0)
        REQUIRE(setegid(65534) == 0 && chown("t", 65534, 65534) == 0 && chown("t/d", 65534, 65534) == 0 &&
                seteuid(65534) == 0);
    const runloop_watch_config config = {
        .path = "t", .scope = RUNLOOP_WATCH_TREE, .settle_ns = 1000 * SECOND, .changed = trace_changes};
    runloop_watch *watch = add_watch_with(&config, MODE), *reader = NULL;
    REQUIRE(runloop_watch_create(&(runloop_watch_config){.path = "t"}, &reader) == 0);
    REQUIRE(runloop_add_source(runloop_current(), reader, OTHER_MODE) == 0);
    write_file("t/f", "text");
    poll_mode(OTHER_MODE);
    EXPECT_TOLD("failedt/d/ +t/f |");
    end_watch(watch);
    end_watch(reader);
    REQUIRE(getuid() != 0 || seteuid(0) == 0);
}

TEST("what is unmounted is reported as removed, and the directory below it is watched") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0 && mkdir("t/m", 0777) == 0);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", "t/m", "tmpfs", 0, NULL) < 0)
        LEAVE_OUT("This process may not mount anything.");
    write_file("t/m/f", "text");
    runloop_watch *watch = add_watch("t", RUNLOOP_WATCH_TREE);
    REQUIRE(umount("t/m") == 0);
    EXPECT_TOLD_IN(MODE, "-t/m/f -t/m/ +t/m/ |");
    write_file("t/m/g", "text");
    EXPECT_TOLD_IN(MODE, "+t/m/g |");
    end_watch(watch);
}

TEST("a file of another device that has the same number is another file") {
    enter_folder();
    struct stat files[2];
    REQUIRE(mkdir("1", 0777) == 0 && mkdir("2", 0777) == 0 && symlink("1", "l") == 0 && symlink("2", "m") == 0);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", "1", "tmpfs", 0, NULL) < 0 || mount("none", "2", "tmpfs", 0, NULL) < 0)
        LEAVE_OUT("This process may not mount anything.");
    write_file("1/f", "text");
    write_file("2/f", "text");
    REQUIRE(stat("1/f", &files[0]) == 0 && stat("2/f", &files[1]) == 0);
    if (files[0].st_ino != files[1].st_ino)
        LEAVE_OUT("The two files have two numbers.");
    runloop_watch *watch = add_watch("l/f", RUNLOOP_WATCH_FILE);
    REQUIRE(rename("m", "l") == 0);
    EXPECT_TOLD("+l/f |");
    write_file("2/f", "more");
    EXPECT_TOLD("*l/f |");
    end_watch(watch);
}

TEST("after an overflow a directory whose end was among what was dropped is watched anew") {
    enter_folder();
    struct stat before, after;
    REQUIRE(mkdir("t", 0777) == 0 && mkdir("t/m", 0777) == 0);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", "t/m", "tmpfs", 0, NULL) < 0)
        LEAVE_OUT("This process may not mount anything.");
    write_file("t/m/f", "text");
    runloop_watch *watch = add_watch("t", RUNLOOP_WATCH_TREE);
    for (int i = 0; i < 10000; i++)
        REQUIRE(mkdir("t/flood", 0777) == 0 && rmdir("t/flood") == 0);
    REQUIRE(stat("t/m", &before) == 0 && umount("t/m") == 0);
    REQUIRE(mount("none", "t/m", "tmpfs", 0, NULL) == 0 && stat("t/m", &after) == 0);
    if (before.st_dev != after.st_dev || before.st_ino != after.st_ino)
        LEAVE_OUT("The new directory has other numbers.");
    EXPECT_TOLD("overflowt/ -t/m/f |");
    write_file("t/m/g", "text");
    EXPECT_TOLD("+t/m/g |");
    end_watch(watch);
}
