// files_shared.c — watches that have an inotify instance together: modes, loops, threads, call-outs, the end of some.
#include "files.h"

static void count_calls(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)watch, (void)changes, (void)count;
    ++*(int *)info;
}

/// How many of the watches from `from` to `to` were notified of what happens to `name`.
static int count_told(const int *calls, int from, int to, int name) {
    int count = 0;
    for (int i = from; i < to; i++)
        count += i % 10 == name && calls[i] > 0;
    return count;
}

enum { COUNT = 2000 };

TEST("thousands of watches of a thread have one descriptor, and each gets what concerns it, in its modes") {
    static runloop_watch *watches[COUNT];
    static int calls[COUNT];
    enter_folder();
    runloop_current();
    int before = count_descriptors();
    REQUIRE(mkdir("t", 0777) == 0);
    write_file("t/4", "text");
    for (int i = 0; i < COUNT; i++) {
        char path[32];
        snprintf(path, sizeof path, "t/%d", i % 10);
        runloop_watch_config config = {
            .context.info = &calls[i], .path = path, .scope = RUNLOOP_WATCH_FILE, .changed = count_calls};
        watches[i] = add_watch_with(&config, i < COUNT / 2 ? MODE : OTHER_MODE);
    }
    EXPECT_EQ(count_descriptors(), before + 1);
    EXPECT_EQ(count_in_instances(false), 1);
    write_file("t/3", "text");
    RUN_UNTIL(MODE, count_told(calls, 0, COUNT / 2, 3) == COUNT / 20);
    for (int i = 0; i < COUNT; i++)
        EXPECT_EQ(calls[i], i < COUNT / 2 && i % 10 == 3);
    RUN_UNTIL(OTHER_MODE, count_told(calls, COUNT / 2, COUNT, 3) == COUNT / 20);
    for (int i = 0; i < COUNT; i++)
        EXPECT_EQ(calls[i], i % 10 == 3);
    // What others still need is not ended with one.
    int kernel_watches = count_kernel_watches();
    for (int i = 0; i < COUNT; i += 2)
        end_watch(watches[i]);
    EXPECT(count_kernel_watches() < kernel_watches);
    write_file("t/5", "text");
    write_file("t/3", "more");
    RUN_UNTIL(MODE, count_told(calls, 0, COUNT / 2, 5) == COUNT / 20 && calls[3] == 2 && calls[93] == 2);
    for (int i = 1; i < COUNT; i += 2)
        end_watch(watches[i]);
    EXPECT_EQ(count_descriptors(), before);
    EXPECT_EQ(run_for(MODE, 0), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(run_for(OTHER_MODE, 0), RUNLOOP_RESULT_FINISHED);
}

enum { FAR_WATCHES = 8, FAR_LOOPS = 4, FAR_FILES = 50 };

static struct far_watch {
    runloop_watch *watch;
    _Atomic int count;
} far_watches[FAR_WATCHES];

/// The first one ends in its own call.
static void count_far(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    struct far_watch *far = info;
    for (size_t i = 0; i < count; i++)
        far->count += changes[i].kind == RUNLOOP_CHANGE_CREATED;
    if (far == far_watches)
        runloop_source_invalidate(watch);
}

static void add_far(void) {
    static _Atomic int number;
    for (int i = number++; i < FAR_WATCHES; i += FAR_LOOPS)
        REQUIRE(runloop_add_source(runloop_current(), far_watches[i].watch, MODE) == 0);
}

TEST("watches of one instance in the loops of several threads each get all of theirs, whichever thread reads") {
    char path[32];
    struct worker workers[FAR_LOOPS];
    enter_folder();
    for (int i = 0; i < FAR_WATCHES; i++) {
        snprintf(path, sizeof path, "%d", i);
        REQUIRE(mkdir(path, 0777) == 0);
        runloop_watch_config config = {
            .context.info = &far_watches[i], .path = path, .scope = RUNLOOP_WATCH_DIRECTORY, .changed = count_far};
        REQUIRE(runloop_watch_create(&config, &far_watches[i].watch) == 0);
    }
    for (int i = 0; i < FAR_LOOPS; i++) {
        workers[i] = (struct worker){.prepare = add_far};
        start_worker(&workers[i]);
    }
    for (int i = 0; i < FAR_WATCHES * FAR_FILES; i++) {
        snprintf(path, sizeof path, "%d/%d", i % FAR_WATCHES, i);
        write_file(path, "text");
    }
    for (int i = 1; i < FAR_WATCHES; i++)
        WAIT_UNTIL(far_watches[i].count == FAR_FILES);
    WAIT_UNTIL(far_watches[0].count > 0);
    // A thread ends, and the others go on.
    stop_worker(&workers[1]);
    write_file("2/last", "text");
    WAIT_UNTIL(far_watches[2].count == FAR_FILES + 1);
    for (int i = 0; i < FAR_LOOPS; i++)
        if (i != 1)
            stop_worker(&workers[i]);
    for (int i = 0; i < FAR_WATCHES; i++)
        end_watch(far_watches[i].watch);
}

static _Atomic bool is_writing;

static void *write_files(void *unused) {
    for (int i = 0; is_writing; i++) {
        char path[32];
        snprintf(path, sizeof path, "%d", i % 100);
        write_file(path, "text");
    }
    return unused;
}

TEST("a watch is made while the loop of another thread reads what concerns it") {
    enum { TIMES = 1000 };
    struct worker worker = {.prepare = add_far};
    pthread_t writer;
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0);
    runloop_watch_config config = {
        .context.info = &far_watches[1], .path = "t", .scope = RUNLOOP_WATCH_DIRECTORY, .changed = count_far};
    for (int i = 0; i < FAR_WATCHES; i++)
        REQUIRE(runloop_watch_create(&config, &far_watches[i].watch) == 0);
    start_worker(&worker);
    is_writing = true;
    REQUIRE(pthread_create(&writer, NULL, write_files, NULL) == 0);
    config.path = ".";
    for (int i = 0; i < TIMES; i++) {
        runloop_watch *watch = NULL;
        REQUIRE(runloop_watch_create(&config, &watch) == 0);
        end_watch(watch);
    }
    is_writing = false;
    pthread_join(writer, NULL);
    write_file("t/last", "text");
    WAIT_UNTIL(far_watches[1].count > 0);
    stop_worker(&worker);
    for (int i = 0; i < FAR_WATCHES; i++)
        end_watch(far_watches[i].watch);
}

TEST("a watch that has ended keeps nothing in the kernel, though somebody has a reference to it") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0 && mkdir("t/d", 0777) == 0 && mkdir("t/e", 0777) == 0);
    int calls = 0;
    runloop_watch_config config = {
        .context.info = &calls, .path = "t", .scope = RUNLOOP_WATCH_FILE, .changed = count_calls};
    runloop_watch *other = add_watch_with(&config, MODE);
    int before = count_kernel_watches();
    config.scope = RUNLOOP_WATCH_TREE;
    runloop_watch *watch = add_watch_with(&config, MODE);
    EXPECT(count_kernel_watches() > before);
    runloop_source_invalidate(watch);
    EXPECT_EQ(count_kernel_watches(), before);
    EXPECT_EQ(chmod("t", 0700), 0);
    RUN_UNTIL(MODE, calls == 1);
    runloop_source_release(watch);
    end_watch(other);
}

static void *watch_elsewhere(void *count) {
    runloop_watch *watch = add_watch("file", RUNLOOP_WATCH_FILE);
    *(int *)count = count_in_instances(false);
    end_watch(watch);
    return NULL;
}

TEST("each thread that makes watches has an instance of its own, which ends with the last of them") {
    int count = 0;
    enter_folder();
    write_file("file", "text");
    runloop_watch *watch = add_watch("file", RUNLOOP_WATCH_FILE);
    EXPECT_EQ(count_in_instances(false), 1);
    on_new_thread(watch_elsewhere, &count);
    EXPECT_EQ(count, 2);
    EXPECT_EQ(count_in_instances(false), 1);
    end_watch(watch);
    EXPECT_EQ(count_in_instances(false), 0);
}
