// files.h — what the tests of watches share: a folder of the test's own, and a list of what was reported, applied to what was known.
#ifndef RUNLOOP_TEST_FILES_H
#define RUNLOOP_TEST_FILES_H

#include <ftw.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "linux_items.h"

/// The folder of the test, which is its current directory, and is removed when the test ends. Watches need /proc.
static char folder[64];
static pid_t folder_owner;

static inline int remove_one(const char *path, const struct stat *status, int kind, struct FTW *position) {
    (void)status, (void)kind, (void)position;
    return remove(path);
}

static inline void remove_folder(void) {
    if (getpid() == folder_owner)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void enter_folder(void) {
    need_proc();
    snprintf(folder, sizeof folder, "%s/runloop-files-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    REQUIRE(mkdtemp(folder) && chdir(folder) == 0);
    folder_owner = getpid();
    atexit(remove_folder);
}

static inline void write_file(const char *path, const char *text) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    REQUIRE(descriptor >= 0);
    REQUIRE(write(descriptor, text, strlen(text)) == (ssize_t)strlen(text));
    close(descriptor);
}

static const char *const kind_words[] = {"+", "-", ">", "*", "@", "overflow", "failed"};

/// "+a" for the creation of a, "-a" its removal, "a>b", "*a" its modification, "@a" its attributes; "!a" what failed; "|" after each call.
static inline void trace_changes(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)watch, (void)info;
    EXPECT(count > 0);
    for (size_t i = 0; i < count; i++) {
        const runloop_change *change = &changes[i];
        char text[256];
        EXPECT_EQ(change->from != NULL, change->kind == RUNLOOP_CHANGE_MOVED);
        EXPECT_EQ(change->error < 0, change->kind == RUNLOOP_CHANGE_FAILED);
        if (change->from)
            snprintf(text, sizeof text, "%.99s>%.99s", change->from, change->path);
        else
            snprintf(text, sizeof text, "%s%.99s%s", kind_words[change->kind], change->path,
                     change->is_directory ? "/" : "");
        trace(text);
    }
    trace("|");
}

static inline runloop_watch *add_watch_with(const runloop_watch_config *config, const char *mode) {
    runloop_watch *watch = NULL;
    REQUIRE(runloop_watch_create(config, &watch) == 0 && watch);
    REQUIRE(runloop_add_source(runloop_current(), watch, mode) == 0);
    return watch;
}

static inline runloop_watch *add_watch(const char *path, runloop_watch_scope scope) {
    runloop_watch_config config = {.path = path, .scope = scope, .changed = trace_changes};
    return add_watch_with(&config, MODE);
}

static inline void end_watch(runloop_watch *watch) {
    end_source(watch);
}

/// How many inotify instances the process has, or watches of the kernel in them.
static inline int count_in_instances(bool counts_watches) {
    int instances = 0, watches = 0;
    for (int descriptor = 0; descriptor < 1024; descriptor++) {
        char line[256], path[32];
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        ssize_t length = readlink(path, line, sizeof line - 1);
        bool is_instance = length == 18 && strncmp(line, "anon_inode:inotify", 18) == 0;
        instances += is_instance;
        snprintf(line, sizeof line, "/proc/self/fdinfo/%d", descriptor);
        FILE *file = is_instance ? fopen(line, "r") : NULL;
        while (file && fgets(line, sizeof line, file))
            watches += strncmp(line, "inotify wd:", 11) == 0;
        if (file)
            fclose(file);
    }
    return counts_watches ? watches : instances;
}

static inline int count_kernel_watches(void) {
    return count_in_instances(true);
}

/// Runs in the mode until something is reported.
#define EXPECT_TOLD_IN(mode, expected)                                                                                 \
    do {                                                                                                               \
        RUN_UNTIL(mode, trace_contains("|"));                                                                          \
        EXPECT_TRACE(expected);                                                                                        \
    } while (0)

/// Serves what the kernel has noted by now.
#define EXPECT_TOLD(expected)                                                                                          \
    do {                                                                                                               \
        poll_mode(MODE);                                                                                               \
        EXPECT_TRACE(expected);                                                                                        \
    } while (0)

#endif // RUNLOOP_TEST_FILES_H
